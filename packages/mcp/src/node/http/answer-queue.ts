import type { Platform } from "../../platform/platform.js";

/** A reply that is ready to be written. */
export interface Flushable {
  flush(): void;
}

/**
 * Writes the replies of one loop turn together, after all requests of that turn were read. Under load this is worth
 * about a third of the throughput: reads and writes no longer alternate, so that caches stay warm and clients wake up
 * for many replies at once.
 */
export class AnswerQueue {
  readonly #platform: Platform;
  #replies: Flushable[] = [];
  readonly #flush = () => {
    const replies = this.#replies;
    this.#replies = [];
    for (const reply of replies) reply.flush();
  };

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  push(reply: Flushable): void {
    if (this.#replies.push(reply) === 1) this.#platform.defer(this.#flush);
  }
}
