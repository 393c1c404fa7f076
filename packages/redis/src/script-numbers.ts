/**
 * A number greater than any that this process has seen. Scripts use the maximum of this number and the clock of Redis,
 * so that versions and ids grow even if the clock is set back or a replica with a slower clock takes over.
 */
export class MonotonicNumber {
  #last = 0;

  /** Records a number that is in use. */
  observe(used: number): void {
    if (used > this.#last) this.#last = used;
  }

  /** Returns a different number for each call, so that concurrent calls do not share one. */
  next(): number {
    return ++this.#last;
  }
}

/** Maximum lifetime in milliseconds: 100 years. Redis rejects times that overflow its counter. */
const MAX_MS = 100 * 366 * 24 * 3_600_000;

/** Formats a lifetime as a script argument: whole milliseconds, or an empty string for no expiry. */
export function lifetime(ms: number | undefined): string {
  return ms === undefined ? "" : `${Math.max(0, Math.min(Math.ceil(ms), MAX_MS))}`;
}
