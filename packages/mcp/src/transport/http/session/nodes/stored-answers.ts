import type { ErrorMessage, ResultMessage } from "../../../../jsonrpc/message.js";
import { type KeyValue, StorageFailure } from "../../../../storage/storage.js";

type AnswerMessage = ResultMessage | ErrorMessage;

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
  readonly #maxLength: number;
  readonly #ttlMs: number;

  constructor(kv: KeyValue, key: (session: string) => string, maxLength: number, ttlMs: number) {
    this.#kv = kv;
    this.#key = key;
    this.#maxLength = maxLength;
    this.#ttlMs = ttlMs;
  }

  async add(session: string, message: AnswerMessage): Promise<void> {
    const key = this.#key(session);
    for (let trial = 0; trial < MAX_TRIALS; trial++) {
      const stored = await this.#kv.get(key);
      const others = decode(stored?.value).filter(({ id }) => id !== message.id);
      const value = this.#encode([...others, message]);
      const version = await this.#kv.set(key, value, { ttlMs: this.#ttlMs, ifVersion: stored?.version ?? 0 });
      if (version !== undefined) return;
    }
    throw new StorageFailure("unavailable", "The answers of one session change too fast.", "Send the answer again.");
  }

  async of(session: string): Promise<AnswerMessage[]> {
    return decode((await this.#kv.get(this.#key(session)))?.value);
  }

  /** The newest answers that fit; the last one always does. */
  #encode(answers: readonly AnswerMessage[]): string {
    const texts = answers.slice(-MAX_ANSWERS).map((answer) => JSON.stringify(answer));
    let length = texts.reduce((sum, text) => sum + text.length, 0);
    while (texts.length > 1 && length > this.#maxLength) length -= texts.shift()?.length ?? 0;
    return `[${texts.join(",")}]`;
  }
}

/** Trusts its input, because only our nodes write there. */
function decode(text: string | undefined): AnswerMessage[] {
  return text === undefined ? [] : (JSON.parse(text) as AnswerMessage[]);
}
