import type { Principal } from "../../../../http/authentication.js";
import type { ErrorMessage, ResultMessage } from "../../../../jsonrpc/message.js";
import { KeyCounts } from "../../../../platform/key-counts.js";
import { type KeyValue, StorageError, StorageFailure } from "../../../../storage/storage.js";

type AnswerMessage = ResultMessage | ErrorMessage;

/** The session whose answers are stored. */
export interface AnsweredSession {
  readonly id: string;
  readonly principal: Principal | undefined;
}

interface AnswerLimits {
  readonly maxAnswersLength: number;
  readonly maxAnswersLengthPerPrincipal: number;
}

/** The length of the stored answers of one session, counted until they expire. */
interface AnswersUsage {
  readonly principal: string;
  readonly length: number;
  readonly endsAt: number;
}

/** Maximum number of answers stored for one session. The oldest are dropped first. */
const MAX_ANSWERS = 64;
/** Maximum number of attempts to write answers that other nodes change at the same time. After that, `add` rejects. */
const MAX_ATTEMPTS = 16;

/**
 * The answers of clients to requests that another node sent. A node stores them before it acknowledges them to the
 * client, because the message to the other node may be lost.
 */
export class StoredAnswers {
  readonly #kv: KeyValue;
  readonly #key: (session: string) => string;
  readonly #limits: AnswerLimits;
  readonly #ttlMs: number;
  readonly #monotonic: () => number;
  /** The usage of each session, in the order of expiry. */
  readonly #usage = new Map<string, AnswersUsage>();
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

  /** Stores an answer. Throws a `StorageError` if the principal has reached its limit or the storage is full. */
  async add({ id: session, principal }: AnsweredSession, message: AnswerMessage): Promise<void> {
    const key = this.#key(session);
    for (let trial = 0; trial < MAX_ATTEMPTS; trial++) {
      const stored = await this.#kv.get(key);
      const others = decode(stored?.value).filter(({ id }) => id !== message.id);
      const value = this.#encode([...others, message]);
      if (principal !== undefined) this.#count(session, principal.key, value.length);
      const version = await this.#kv.set(key, value, { ttlMs: this.#ttlMs, ifVersion: stored?.version ?? 0 });
      if (version !== undefined) return;
    }
    throw new StorageFailure(
      "unavailable",
      "Too many processes store answers of one session at once.",
      "Send the answer again.",
    );
  }

  async read(session: string): Promise<AnswerMessage[]> {
    return decode((await this.#kv.get(this.#key(session)))?.value);
  }

  /**
   * Counts the answers of a session that are about to be stored. A failed write also counts until it would expire,
   * because it may have taken effect.
   */
  #count(session: string, principal: string, length: number): void {
    const now = this.#monotonic();
    for (const [id, { endsAt }] of this.#usage) {
      if (endsAt > now) break;
      this.#forget(id);
    }
    const max = this.#limits.maxAnswersLengthPerPrincipal;
    const own = this.#usage.get(session)?.length ?? 0;
    if (this.#lengths.get(principal) - own + length > max) {
      throw new StorageError(
        "eventLog.maxAnswersLengthPerPrincipal",
        max,
        "Raise it, or send shorter answers from clients.",
      );
    }
    this.#forget(session);
    this.#usage.set(session, { principal, length, endsAt: now + this.#ttlMs });
    this.#lengths.change(principal, length);
  }

  #forget(session: string): void {
    const usage = this.#usage.get(session);
    if (usage === undefined) return;
    this.#usage.delete(session);
    this.#lengths.change(usage.principal, -usage.length);
  }

  /** Encodes the newest answers that fit. The newest answer is always included. */
  #encode(answers: readonly AnswerMessage[]): string {
    const texts = answers.slice(-MAX_ANSWERS).map((answer) => JSON.stringify(answer));
    let length = texts.reduce((sum, text) => sum + text.length, 0);
    while (texts.length > 1 && length > this.#limits.maxAnswersLength) length -= texts.shift()?.length ?? 0;
    return `[${texts.join(",")}]`;
  }
}

/** Does not validate the text, because only nodes of this server write to this key. */
function decode(text: string | undefined): AnswerMessage[] {
  return text === undefined ? [] : (JSON.parse(text) as AnswerMessage[]);
}
