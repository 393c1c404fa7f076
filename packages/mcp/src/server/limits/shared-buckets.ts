import type { MaybePromise } from "../../encoding/maybe-promise.js";
import type { Platform } from "../../platform/platform.js";
import type { KeyValue } from "../../storage/storage.js";
import type { FullRate } from "./quota-options.js";
import { takeToken } from "./take-token.js";

/** Times that a write may lose against other nodes. One of them wins each time, so that more means a storage out of order. */
const ATTEMPTS = 20;
/** How much longer than needed a key lives, for nodes whose clocks differ. */
const CLOCKS_DIFFER_MS = 10_000;

interface Waiter {
  resolve(waitMs: number): void;
  reject(error: unknown): void;
}

/** What this node knows of a bucket. Buckets never get full sooner, so a refusal by what is known stays right. */
interface Known {
  fullAt: number;
  version: number | undefined;
  /** Calls of this node that want a token; one write serves all of them. */
  waiting: Waiter[];
  writing: boolean;
}

/** Buckets on a storage, one for all nodes, counted by the nodes' own clocks: a clock that is ahead fills a bucket sooner. */
export class SharedBuckets {
  readonly #platform: Pick<Platform, "now">;
  readonly #kv: KeyValue;
  readonly #most: number;
  /** The least recently used first. */
  readonly #known = new Map<string, Known>();

  constructor(platform: Pick<Platform, "now">, kv: KeyValue, most: number) {
    this.#platform = platform;
    this.#kv = kv;
    this.#most = most;
  }

  get size(): number {
    return this.#known.size;
  }

  /** Takes a token and gives 0, or gives the milliseconds until there is one. Rejects if the storage fails. */
  take(key: string, rate: FullRate): MaybePromise<number> {
    const known = this.#knownOf(key);
    const { waitMs, fullAt } = takeToken(known.fullAt, this.#platform.now(), rate);
    if (waitMs > 0) {
      known.fullAt = fullAt;
      return waitMs;
    }
    // These take all that a full bucket has.
    if (known.waiting.length >= rate.burst) return rate.intervalMs;
    return new Promise((resolve, reject) => {
      known.waiting.push({ resolve, reject });
      if (!known.writing) void this.#write(key, known, rate);
    });
  }

  #knownOf(key: string): Known {
    const known = this.#known.get(key) ?? { fullAt: 0, version: undefined, waiting: [], writing: false };
    this.#known.delete(key);
    this.#known.set(key, known);
    if (this.#known.size > this.#most) {
      for (const [oldest] of this.#known) {
        this.#known.delete(oldest);
        break;
      }
    }
    return known;
  }

  async #write(key: string, known: Known, rate: FullRate): Promise<void> {
    known.writing = true;
    while (known.waiting.length > 0) {
      const waiting = known.waiting.splice(0);
      try {
        const waits = await this.#takeAll(key, known, rate, waiting.length);
        waiting.forEach((waiter, index) => {
          waiter.resolve(waits[index] ?? 0);
        });
      } catch (error) {
        known.version = undefined;
        for (const waiter of waiting) waiter.reject(error);
      }
    }
    known.writing = false;
  }

  /** The wait of each of `count` calls, after one write for those that got a token. */
  async #takeAll(key: string, known: Known, rate: FullRate, count: number): Promise<number[]> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (known.version === undefined) {
        const stored = await this.#kv.get(key);
        known.version = stored?.version ?? 0;
        known.fullAt = readTime(stored?.value);
      }
      const now = this.#platform.now();
      let { fullAt } = known;
      const waits = Array.from({ length: count }, () => {
        const taken = takeToken(fullAt, now, rate);
        fullAt = taken.fullAt;
        return taken.waitMs;
      });
      if (!waits.includes(0)) {
        known.fullAt = fullAt;
        return waits;
      }
      const ttlMs = Math.ceil(fullAt - now) + CLOCKS_DIFFER_MS;
      known.version = await this.#kv.set(key, String(fullAt), { ttlMs, ifVersion: known.version });
      if (known.version === undefined) continue;
      known.fullAt = fullAt;
      return waits;
    }
    throw new Error(`the storage refused ${ATTEMPTS} writes of a count in a row`);
  }
}

/** What is no time counts as a full bucket, because only a fault of the storage makes one. */
function readTime(text: string | undefined): number {
  const time = Number(text);
  return Number.isFinite(time) ? time : 0;
}
