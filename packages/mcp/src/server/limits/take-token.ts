import type { FullRate } from "../contract/quota-options.js";

// A bucket is one number: the time at which it will be full again. A full bucket is one that was never used, so that what is
// forgotten or has expired on a storage is the same as what was there.

/** Whoever waits as long as it was told finds its token, although sums of fractions are inexact. */
const INEXACT_MS = 1e-6;

/** What taking a token of a bucket gives. */
interface Taken {
  /** Milliseconds until there is a token; 0 if there was one. */
  readonly waitMs: number;
  /** When the bucket is full again; to be kept also if there was none. */
  readonly fullAt: number;
}

/**
 * Takes a token of the bucket that is full at `filled`, if it has one now. No bucket is emptier than empty: a clock that was
 * ahead, or is set back, must lock nobody out until then.
 */
export function takeToken(filled: number, now: number, { intervalMs, burst }: FullRate): Taken {
  const fullAt = Math.min(filled, now + burst * intervalMs);
  const waitMs = fullAt - now - (burst - 1) * intervalMs;
  return waitMs > INEXACT_MS ? { waitMs, fullAt } : { waitMs: 0, fullAt: Math.max(fullAt, now) + intervalMs };
}
