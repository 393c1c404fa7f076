import type { KeyCounts } from "../../../platform/key-counts.js";

/** How much is kept for a client that does not read. */
interface UnreadLimits {
  readonly maxEvents: number;
  readonly maxUnreadLength: number;
  readonly maxUnreadLengthPerPrincipal: number;
}

/** What all sessions of a principal have, and who that is. */
interface Share {
  readonly key: string;
  readonly lengths: KeyCounts;
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
    const share = this.#share;
    return share !== undefined && share.lengths.get(share.key) > maxUnreadLengthPerPrincipal;
  }

  #count(change: number): void {
    this.#length += change;
    this.#share?.lengths.change(this.#share.key, change);
  }
}
