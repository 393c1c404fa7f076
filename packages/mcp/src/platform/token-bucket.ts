import type { Platform } from "./platform.js";

// A bucket is one number: the time at which it will be full again. A bucket that was never used is full, so an evicted
// or expired bucket equals a full one.

/** Tolerance for rounding errors of sums: a caller that waited for the returned `waitMs` must get its token. */
const INEXACT_MS = 1e-6;

/** The capacity of a bucket in tokens, and the milliseconds in which it gains one. */
export interface TokenRate {
  readonly intervalMs: number;
  readonly burst: number;
}

/** The outcome of an attempt to acquire a token. */
interface TokenOutcome {
  /** Milliseconds until a token is available; 0 if one was acquired. */
  readonly waitMs: number;
  /** Time at which the bucket is full again. Store this value even if no token was acquired. */
  readonly fullAt: number;
}

/**
 * Acquires a token from the bucket that is full at `filled`, if a token is available. A bucket never counts as less
 * than empty, so that a clock that jumps back does not lock out callers.
 */
export function acquireToken(filled: number, now: number, { intervalMs, burst }: TokenRate): TokenOutcome {
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

  /** Acquires a token and returns 0, or returns the milliseconds until one is available. */
  acquire(): number {
    const { waitMs, fullAt } = acquireToken(this.#fullAt, this.#clock.monotonic(), this.#rate);
    this.#fullAt = fullAt;
    return waitMs;
  }

  /** Milliseconds until a token is available; 0 if one is available now. Does not acquire a token. */
  get waitMs(): number {
    return acquireToken(this.#fullAt, this.#clock.monotonic(), this.#rate).waitMs;
  }
}
