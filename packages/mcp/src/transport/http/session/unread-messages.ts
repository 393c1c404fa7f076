/** How much is kept for a client that does not read. */
export interface UnreadLimits {
  readonly maxEvents: number;
  readonly maxUnreadLength: number;
  readonly maxUnreadLengthPerPrincipal: number;
}

/** Characters that all sessions of a principal have not read. */
interface Share {
  unread: number;
}

/**
 * Messages of one session that belong to no request, until its client opens its first GET stream. Kept beside the storage, which
 * many clients that never read would fill. The oldest are dropped first.
 */
export class UnreadMessages {
  readonly #limits: UnreadLimits;
  readonly #share: Share | undefined;
  #texts: string[] = [];
  #length = 0;

  constructor(limits: UnreadLimits, share?: Share) {
    this.#limits = limits;
    this.#share = share;
  }

  /** False if messages were dropped to keep the limits. */
  add(text: string): boolean {
    this.#texts.push(text);
    this.#count(text.length);
    let complete = true;
    while (this.#texts.length > 0 && this.#isOver()) {
      this.#count(-(this.#texts.shift()?.length ?? 0));
      complete = false;
    }
    return complete;
  }

  take(): string[] {
    const texts = this.#texts;
    this.#texts = [];
    this.#count(-this.#length);
    return texts;
  }

  #isOver(): boolean {
    const { maxEvents, maxUnreadLength, maxUnreadLengthPerPrincipal } = this.#limits;
    if (this.#length > maxUnreadLength || this.#texts.length > maxEvents) return true;
    return (this.#share?.unread ?? 0) > maxUnreadLengthPerPrincipal;
  }

  #count(change: number): void {
    this.#length += change;
    if (this.#share !== undefined) this.#share.unread += change;
  }
}
