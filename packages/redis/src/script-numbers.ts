/**
 * Numbers that this process has not seen used. The scripts take the clock of Redis or this number, whichever is greater: if the
 * clock goes back, or a replica with a slower one takes over, versions and ids still grow.
 */
export class FreeNumber {
  #last = 0;

  seen(used: number): void {
    if (used > this.#last) this.#last = used;
  }

  /** Another one for each call, so that calls in flight do not share one. */
  next(): number {
    return ++this.#last;
  }
}

/** 100 years: Redis refuses times that do not fit its own counter. */
const MAX_MS = 100 * 366 * 24 * 3_600_000;

/** A lifetime as an argument: whole milliseconds, or nothing for one without an end. */
export function lifetime(ms: number | undefined): string {
  return ms === undefined ? "" : `${Math.max(0, Math.min(Math.ceil(ms), MAX_MS))}`;
}
