import { McpError } from "../../protocol/error.js";

/** How much may wait for a peer that reads slowly. */
export interface QueueLimits {
  /** Default 65,536. */
  maxQueuedMessages?: number;
  /** In UTF-16 units, which are bytes for ASCII; default 64 Mi. */
  maxQueuedBytes?: number;
}

/** Texts that wait to leave, bounded in number and length. */
export class Outbox {
  readonly #maxMessages: number;
  readonly #maxBytes: number;
  #texts: string[] = [];
  #length = 0;

  constructor(limits: QueueLimits) {
    this.#maxMessages = limits.maxQueuedMessages ?? 65_536;
    this.#maxBytes = limits.maxQueuedBytes ?? 64 * 1024 * 1024;
  }

  /** The total length of all texts. */
  get length(): number {
    return this.#length;
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0;
  }

  /** Throws when a bound is reached, naming it. A single text of any length is taken: its maker holds it anyway. */
  push(text: string): void {
    if (this.#texts.length >= this.#maxMessages) throw tooMuch("maxQueuedMessages", this.#maxMessages, "messages");
    if (this.#length > 0 && this.#length + text.length > this.#maxBytes) {
      throw tooMuch("maxQueuedBytes", this.#maxBytes, "bytes");
    }
    this.#texts.push(text);
    this.#length += text.length;
  }

  /** Takes everything out, in order. */
  takeAll(): string[] {
    const texts = this.#texts;
    this.#texts = [];
    this.#length = 0;
    return texts;
  }
}

function tooMuch(limit: string, value: number, unit: string): McpError {
  return new McpError("limit_exceeded", `more than ${value} ${unit} wait for the peer to read (${limit})`, {
    data: { limit, value },
    fix: `The peer reads too slowly or not at all; send less, or raise \`${limit}\`.`,
  });
}
