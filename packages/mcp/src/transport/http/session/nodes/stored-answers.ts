import type { Principal } from "../../../../http/authentication.js";
import type { ErrorMessage, ResultMessage } from "../../../../jsonrpc/message.js";
import { KeyCounts } from "../../../../platform/key-counts.js";
import { type KeyValue, StorageError, StorageFailure } from "../../../../storage/storage.js";

type AnswerMessage = ResultMessage | ErrorMessage;

/** Whose answers are kept. */
export interface AnsweredSession {
  readonly id: string;
  readonly principal: Principal | undefined;
}

interface AnswerLimits {
  readonly maxAnswersLength: number;
  readonly maxAnswersLengthPerPrincipal: number;
}

/** What this node has stored of a session that is not over yet. */
interface KeptAnswers {
  readonly principal: string;
  readonly length: number;
  readonly endsAt: number;
}

/** Answers of one session that are kept; the oldest are dropped first. */
const MAX_ANSWERS = 64;
/** How often a change is tried that other nodes get ahead of. */
const MAX_TRIALS = 16;

/**
 * The answers of clients to questions that another node asked. They are stored before the client hears that they were accepted,
 * because the message to that node may be lost.
 */
export class StoredAnswers {
  readonly #kv: KeyValue;
  readonly #key: (session: string) => string;
  readonly #limits: AnswerLimits;
  readonly #ttlMs: number;
  readonly #monotonic: () => number;
  /** By session, those that end first at the beginning. */
  readonly #kept = new Map<string, KeptAnswers>();
  readonly #lengths = new KeyCounts();

  constructor(
    kv: KeyValue,
    key: (session: string) => string,
    limits: AnswerLimits,
    ttlMs: number,
    monotonic: () => number,
  ) {
    this.#kv = kv;
    this.#key = key;
    this.#limits = limits;
    this.#ttlMs = ttlMs;
    this.#monotonic = monotonic;
  }

  /** Throws a `StorageError` where the principal has too much there already, or the storage has no room. */
  async add({ id: session, principal }: AnsweredSession, message: AnswerMessage): Promise<void> {
    const key = this.#key(session);
    for (let trial = 0; trial < MAX_TRIALS; trial++) {
      const stored = await this.#kv.get(key);
      const others = decode(stored?.value).filter(({ id }) => id !== message.id);
      const value = this.#encode([...others, message]);
      if (principal !== undefined) this.#keep(session, principal.key, value.length);
      const version = await this.#kv.set(key, value, { ttlMs: this.#ttlMs, ifVersion: stored?.version ?? 0 });
      if (version !== undefined) return;
    }
    throw new StorageFailure("unavailable", "The answers of one session change too fast.", "Send the answer again.");
  }

  async of(session: string): Promise<AnswerMessage[]> {
    return decode((await this.#kv.get(this.#key(session)))?.value);
  }

  /** Counts what is about to be stored. A write that fails counts too until its time is over: it may have taken effect. */
  #keep(session: string, principal: string, length: number): void {
    const now = this.#monotonic();
    for (const [id, { endsAt }] of this.#kept) {
      if (endsAt > now) break;
      this.#forget(id);
    }
    const most = this.#limits.maxAnswersLengthPerPrincipal;
    const own = this.#kept.get(session)?.length ?? 0;
    if (this.#lengths.get(principal) - own + length > most) {
      throw new StorageError("eventLog.maxAnswersLengthPerPrincipal", most, "Raise it, or let clients answer less.");
    }
    this.#forget(session);
    this.#kept.set(session, { principal, length, endsAt: now + this.#ttlMs });
    this.#lengths.change(principal, length);
  }

  #forget(session: string): void {
    const kept = this.#kept.get(session);
    if (kept === undefined) return;
    this.#kept.delete(session);
    this.#lengths.change(kept.principal, -kept.length);
  }

  /** The newest answers that fit; the last one always does. */
  #encode(answers: readonly AnswerMessage[]): string {
    const texts = answers.slice(-MAX_ANSWERS).map((answer) => JSON.stringify(answer));
    let length = texts.reduce((sum, text) => sum + text.length, 0);
    while (texts.length > 1 && length > this.#limits.maxAnswersLength) length -= texts.shift()?.length ?? 0;
    return `[${texts.join(",")}]`;
  }
}

/** Trusts its input, because only our nodes write there. */
function decode(text: string | undefined): AnswerMessage[] {
  return text === undefined ? [] : (JSON.parse(text) as AnswerMessage[]);
}
