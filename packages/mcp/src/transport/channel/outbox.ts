import { McpError } from "../../protocol/error.js";

/** Limits on the queue for a peer that reads slowly. Sending a message beyond a limit fails with `limit_exceeded`. */
export interface QueueLimits {
  /** Maximum number of queued messages. Default: 65,536. */
  maxQueuedMessages?: number | undefined;
  /** Maximum total length of queued messages, in UTF-16 units, which are bytes for ASCII. Default: 64 Mi. */
  maxQueuedBytes?: number | undefined;
}

/** A queue of outgoing texts, bounded in number and length. */
export class Outbox {
  readonly #maxMessages: number;
  readonly #maxBytes: number;
  #texts: string[] = [];
  #length = 0;

  constructor(limits: QueueLimits) {
    this.#maxMessages = limits.maxQueuedMessages ?? 65_536;
    this.#maxBytes = limits.maxQueuedBytes ?? 64 * 1024 * 1024;
  }

  /** The total length of all texts, in UTF-16 units. */
  get length(): number {
    return this.#length;
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0;
  }

  /**
   * Appends a text. Throws an error that names the limit if the queue is full. An empty queue accepts a text of any
   * length.
   */
  push(text: string): void {
    if (this.#texts.length >= this.#maxMessages) throw tooMuch("maxQueuedMessages", this.#maxMessages, "messages");
    if (this.#length > 0 && this.#length + text.length > this.#maxBytes) {
      throw tooMuch("maxQueuedBytes", this.#maxBytes, "bytes");
    }
    this.#texts.push(text);
    this.#length += text.length;
  }

  /** Removes and returns all texts, in order. */
  takeAll(): string[] {
    const texts = this.#texts;
    this.#texts = [];
    this.#length = 0;
    return texts;
  }
}

function tooMuch(limit: string, value: number, unit: string): McpError {
  return new McpError("limit_exceeded", `the peer does not read: more than ${value} ${unit} are queued (${limit})`, {
    data: { limit, value },
    fix: `Send less, or raise \`${limit}\`; the peer reads too slowly or not at all.`,
  });
}
