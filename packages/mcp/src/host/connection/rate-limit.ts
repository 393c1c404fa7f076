import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { checkNumber } from "./check-number.js";

/** How many calls may begin in a time. */
export interface RateOptions {
  /** Calls per second in the long run; fractions are allowed: 0.1 is one in ten seconds. */
  perSecond: number;
  /** Calls that may begin at once after a pause. Default: `perSecond`, at least 1. */
  burst?: number | undefined;
}

/** Whoever waits as long as it was told finds its token, although sums of fractions are inexact. */
const WHOLE = 1 - 1e-9;

/** A token bucket: it holds at most `burst` tokens, gains `perSecond` of them each second, and starts full. */
export class RateLimit {
  readonly perSecond: number;
  readonly burst: number;
  readonly #platform: Pick<Platform, "monotonic">;
  #tokens: number;
  #countedAt: number;

  constructor(platform: Pick<Platform, "monotonic">, options: RateOptions) {
    checkOptions("`rate`", options, "perSecond burst");
    const { perSecond, burst = Math.max(1, Math.floor(perSecond)) } = options;
    checkNumber("rate.perSecond", perSecond, { least: 0.001, fractions: true });
    checkNumber("rate.burst", burst, { least: 1 });
    this.perSecond = perSecond;
    this.burst = burst;
    this.#platform = platform;
    this.#tokens = burst;
    this.#countedAt = platform.monotonic();
  }

  /** Takes a token if there is one. */
  take(): boolean {
    this.#count();
    if (this.#tokens < WHOLE) return false;
    this.#tokens = Math.max(0, this.#tokens - 1);
    return true;
  }

  /** The milliseconds until there is a token, as a whole number; 0 if there is one. */
  get waitMs(): number {
    this.#count();
    return this.#tokens >= WHOLE ? 0 : Math.ceil(((1 - this.#tokens) * 1000) / this.perSecond);
  }

  #count(): void {
    const now = this.#platform.monotonic();
    const gained = ((now - this.#countedAt) * this.perSecond) / 1000;
    this.#tokens = Math.min(this.burst, this.#tokens + gained);
    this.#countedAt = now;
  }
}
