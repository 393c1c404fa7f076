import { BoundedMap } from "../../platform/bounded-map.js";
import type { Platform } from "../../platform/platform.js";
import { takeToken } from "../../platform/token-bucket.js";
import type { FullRate } from "../contract/quota-options.js";

/** The buckets of one node, in memory: at most `most`, of which the one that was not used for longest makes room. */
export class NodeBuckets {
  readonly #platform: Pick<Platform, "monotonic">;
  /** When each is full again. */
  readonly #fullAt: BoundedMap<string, number>;

  constructor(platform: Pick<Platform, "monotonic">, most: number) {
    this.#platform = platform;
    this.#fullAt = new BoundedMap(most);
  }

  get size(): number {
    return this.#fullAt.size;
  }

  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  take(key: string, rate: FullRate): number {
    const now = this.#platform.monotonic();
    const { waitMs, fullAt } = takeToken(this.#fullAt.get(key) ?? now, now, rate);
    // A refused one too, so that a flood does not end in a fresh bucket.
    this.#fullAt.set(key, fullAt);
    return waitMs;
  }
}
