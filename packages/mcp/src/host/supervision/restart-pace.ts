import type { Platform } from "../../platform/platform.js";

/** How many restarts are usual. One more within the time is a failure that restarting does not cure. */
export interface RestartIntensity {
  /** The restarts that are allowed within `withinMs`. Default: 5. */
  readonly restarts: number;
  /** How long a restart counts. Default: 60 s. */
  readonly withinMs: number;
}

/** How long to wait before a child is started again: twice as long each time. */
export interface RestartBackOff {
  /** The first delay. Default: 1 s. */
  readonly firstMs: number;
  /** The longest delay; also how long an instance must have run for its child to begin with `firstMs` again. Default: 30 s. */
  readonly longestMs: number;
  /** The part by which each delay is randomly longer or shorter. Default: 0.2. */
  readonly jitter: number;
}

export const DEFAULT_INTENSITY: RestartIntensity = { restarts: 5, withinMs: 60_000 };
export const DEFAULT_BACK_OFF: RestartBackOff = { firstMs: 1_000, longestMs: 30_000, jitter: 0.2 };

/** Beyond this many doublings every delay is the longest. */
const MOST_DOUBLINGS = 30;

/** Counts the restarts of the last `withinMs`. */
export class RestartCount {
  readonly #intensity: RestartIntensity;
  #times: number[] = [];

  constructor(intensity: RestartIntensity) {
    this.#intensity = intensity;
  }

  /** Counts one more at `now`. False if that is more than the intensity allows. */
  add(now: number): boolean {
    this.#times = this.#times.filter((time) => now - time < this.#intensity.withinMs);
    if (this.#times.length >= this.#intensity.restarts) return false;
    this.#times.push(now);
    return true;
  }
}

/** The delay before the next start after `failures` earlier ones in a row. */
export function restartDelay(platform: Platform, backOff: RestartBackOff, failures: number): number {
  const { firstMs, longestMs, jitter } = backOff;
  const plain = Math.min(longestMs, firstMs * 2 ** Math.min(failures, MOST_DOUBLINGS));
  const [a = 0, b = 0] = jitter === 0 ? [] : platform.randomBytes(2);
  const random = ((a * 256 + b) / 65_535) * 2 - 1;
  return jitter === 0 ? plain : Math.round(plain * (1 + jitter * random));
}
