import type { Platform } from "./platform.js";

// A bucket is one number: the time at which it will be full again. A full bucket is one that was never used, so that one that
// was forgotten, or has expired on a storage, equals the one that was there.

/** A caller that waits as long as it was told finds its token, although sums of fractions are inexact. */
const INEXACT_MS = 1e-6;

/** A bucket's capacity in tokens, and the milliseconds in which it gains one. */
export interface TokenRate {
  readonly intervalMs: number;
  readonly burst: number;
}

interface TakenToken {
  /** Milliseconds until there is a token; 0 if one was taken. */
  readonly waitMs: number;
  /** When the bucket is full again; to be stored also if there was no token. */
  readonly fullAt: number;
}

/**
 * Takes a token of the bucket that is full at `filled`, if it has one now. A bucket is never emptier than empty: a clock that
 * was ahead, or is set back, must not lock anybody out until then.
 */
export function takeToken(filled: number, now: number, { intervalMs, burst }: TokenRate): TakenToken {
  const fullAt = Math.min(filled, now + burst * intervalMs);
  const waitMs = fullAt - now - (burst - 1) * intervalMs;
  return waitMs > INEXACT_MS ? { waitMs, fullAt } : { waitMs: 0, fullAt: Math.max(fullAt, now) + intervalMs };
}

/** One bucket in memory. It starts full. */
export class TokenBucket {
  readonly #clock: Pick<Platform, "monotonic">;
  readonly #rate: TokenRate;
  #fullAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Platform, "monotonic">, rate: TokenRate) {
    this.#clock = clock;
    this.#rate = rate;
  }

  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  take(): number {
    const { waitMs, fullAt } = takeToken(this.#fullAt, this.#clock.monotonic(), this.#rate);
    this.#fullAt = fullAt;
    return waitMs;
  }

  /** The milliseconds until there is a token; 0 if there is one. Takes none. */
  get waitMs(): number {
    return takeToken(this.#fullAt, this.#clock.monotonic(), this.#rate).waitMs;
  }
}
