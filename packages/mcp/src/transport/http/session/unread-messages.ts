/** How much is kept for a client that does not read. */
interface UnreadLimits {
  readonly maxEvents: number;
  readonly maxUnreadLength: number;
}

/**
 * Messages of one session that belong to no request, until its client opens its first GET stream. Kept beside the storage, which
 * many clients that never read would fill. The oldest are dropped first.
 */
export class UnreadMessages {
  readonly #limits: UnreadLimits;
  #texts: string[] = [];
  #length = 0;

  constructor(limits: UnreadLimits) {
    this.#limits = limits;
  }

  /** False if messages were dropped to keep the limits. */
  add(text: string): boolean {
    this.#texts.push(text);
    this.#length += text.length;
    let complete = true;
    const { maxEvents, maxUnreadLength } = this.#limits;
    while (this.#length > maxUnreadLength || this.#texts.length > maxEvents) {
      this.#length -= this.#texts.shift()?.length ?? 0;
      complete = false;
    }
    return complete;
  }

  take(): string[] {
    const texts = this.#texts;
    this.#texts = [];
    this.#length = 0;
    return texts;
  }
}
