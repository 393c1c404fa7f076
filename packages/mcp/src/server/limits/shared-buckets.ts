import type { MaybePromise } from "../../encoding/maybe-promise.js";
import type { Platform } from "../../platform/platform.js";
import { takeToken } from "../../platform/token-bucket.js";
import type { KeyValue } from "../../storage/storage.js";
import type { FullRate } from "../contract/quota-options.js";

/** Times that a write may lose against other nodes; then its calls are refused for now. */
const MAX_ATTEMPTS = 20;
/** The wait that these calls are told. */
const CROWDED_OUT_MS = 100;
/** Lost writes in a row after which a node says so, and again after as many. The first may only mean that it knew an old version. */
const LOSSES = 3;
/** How long others see that. */
const LOSING_MS = 150;
/** The longest pause before the next attempt. */
const MAX_BACKOFF_MS = 32;
/** Writes in a row after which a node looks whether another loses against it. */
const WRITES = 8;
/** Writes further apart are no row. */
const ROW_MS = 100;
/** How long a node pauses, on average, after a write while others lose: at first, and at most. */
const PAUSE_MS = 20;
const MAX_PAUSE_MS = 320;
/** A pause is at most this share of the average, and at least one less. */
const MAX_PAUSE_FACTOR = 1.5;
/** After this time without a write nobody competes any more. */
const QUIET_MS = 1000;
/** How much longer than needed a key lives, for nodes whose clocks differ. */
const CLOCKS_DIFFER_MS = 10_000;

interface Waiter {
  resolve(waitMs: number): void;
  reject(error: unknown): void;
}

/** What this node knows of a bucket. Buckets never get full sooner, so a refusal by what is known stays right. */
interface CachedBucket {
  fullAt: number;
  version: number | undefined;
  /** Calls of this node that want a token; one write serves all of them. */
  waiting: Waiter[];
  writing: boolean;
  /** Writes in a row, and the time of the last. */
  writes: number;
  wroteAt: number;
  /** The pause after a write; 0 while no other node is known to lose. */
  pauseMs: number;
  /** Tokens that were taken for calls during the pause, how many of them are left, and until when these count. */
  ahead: number;
  left: number;
  leftUntil: number;
}

type ClockAndRandom = Pick<Platform, "now" | "monotonic" | "timer" | "randomBytes">;

/**
 * Buckets on a storage, one for all nodes, counted by the nodes' own clocks: a clock that is ahead fills a bucket sooner.
 *
 * A node that is near to the storage writes again before one that is further away has compared. Therefore a node that loses
 * leaves a note beside the bucket, and those that write often pause while there is one. For the calls of a pause they take
 * tokens ahead: no more than the bucket gains in it, and half of what is there. Thus all nodes together never admit more than
 * the burst and what the bucket has gained since it was first used, and in any shorter time what it gains in half a second more.
 */
export class SharedBuckets {
  readonly #platform: ClockAndRandom;
  readonly #kv: KeyValue;
  readonly #max: number;
  /** The least recently used first. */
  readonly #cached = new Map<string, CachedBucket>();

  constructor(platform: ClockAndRandom, kv: KeyValue, most: number) {
    this.#platform = platform;
    this.#kv = kv;
    this.#max = most;
  }

  get size(): number {
    return this.#cached.size;
  }

  /**
   * Takes a token and gives 0, or gives the milliseconds until there is one or until it is worth trying again. Rejects if the
   * storage fails.
   */
  acquire(key: string, rate: FullRate): MaybePromise<number> {
    const known = this.#bucketOf(key);
    if (known.left > 0 && this.#platform.monotonic() < known.leftUntil) {
      known.left -= 1;
      return 0;
    }
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

  #bucketOf(key: string): CachedBucket {
    const known = this.#cached.get(key) ?? newBucket();
    this.#cached.delete(key);
    this.#cached.set(key, known);
    if (this.#cached.size > this.#max) {
      for (const [oldest] of this.#cached) {
        this.#cached.delete(oldest);
        break;
      }
    }
    return known;
  }

  async #write(key: string, known: CachedBucket, rate: FullRate): Promise<void> {
    known.writing = true;
    if (this.#platform.monotonic() - known.wroteAt > QUIET_MS) known.pauseMs = known.ahead = known.left = 0;
    while (known.waiting.length > 0) {
      const waiting = known.waiting.splice(0);
      try {
        const waits = await this.#acquireAll(key, known, rate, waiting.length);
        waiting.forEach((waiter, index) => {
          waiter.resolve(waits[index] ?? 0);
        });
        if (waits.includes(0)) await this.#yieldToOthers(key, known);
      } catch (error) {
        known.version = undefined;
        for (const waiter of waiting) waiter.reject(error);
      }
    }
    known.writing = false;
  }

  /** The wait of each of `count` calls, after one write for those that got a token. */
  async #acquireAll(key: string, known: CachedBucket, rate: FullRate, count: number): Promise<number[]> {
    let compared = known.version;
    let others = false;
    for (let lost = 0; lost < MAX_ATTEMPTS; lost++) {
      if (lost >= LOSSES) await this.#backOff(key, lost);
      if (known.version === undefined) {
        const read = await this.#read(key, known);
        others ||= lost > 0 && read !== compared;
        compared = read;
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
      const ahead = waits.at(-1) === 0 ? Math.min(wantedAhead(known, count), maxAhead(known, fullAt - now, rate)) : 0;
      fullAt += ahead * rate.intervalMs;
      const ttlMs = Math.ceil(fullAt - now) + CLOCKS_DIFFER_MS;
      known.version = await this.#kv.set(key, String(fullAt), { ttlMs, ifVersion: compared });
      if (known.version === undefined) continue;
      known.fullAt = fullAt;
      known.ahead = known.left = ahead;
      known.leftUntil = this.#platform.monotonic() + MAX_PAUSE_FACTOR * known.pauseMs;
      return waits;
    }
    if (others) return Array.from({ length: count }, () => CROWDED_OUT_MS);
    throw new Error(`the storage refused ${MAX_ATTEMPTS} writes of a count in a row, although nobody else wrote it`);
  }

  async #read(key: string, known: CachedBucket): Promise<number> {
    const stored = await this.#kv.get(key);
    known.fullAt = readTime(stored?.value);
    known.version = stored?.version ?? 0;
    return known.version;
  }

  /** Pauses for a random time, so that those that lost do not meet again, and lets the others know now and then. */
  async #backOff(key: string, lost: number): Promise<void> {
    if (lost % LOSSES === 0) await this.#kv.set(losingKey(key), "", { ttlMs: LOSING_MS });
    await this.#pause(Math.min(2 ** lost, MAX_BACKOFF_MS) * this.#random());
  }

  /** Leaves the bucket to others for a while after a write, if some of them lose against this node. */
  async #yieldToOthers(key: string, known: CachedBucket): Promise<void> {
    const now = this.#platform.monotonic();
    known.writes = now - known.wroteAt > ROW_MS ? 1 : known.writes + 1;
    known.wroteAt = now;
    if (known.pauseMs === 0 && known.writes < WRITES) return;
    known.writes = 0;
    const losing = (await this.#kv.get(losingKey(key))) !== undefined;
    if (losing) known.pauseMs = Math.min(Math.max(2 * known.pauseMs, PAUSE_MS), MAX_PAUSE_MS);
    else known.pauseMs = known.pauseMs > PAUSE_MS ? known.pauseMs / 2 : 0;
    if (known.pauseMs > 0) await this.#pause(known.pauseMs * (MAX_PAUSE_FACTOR - this.#random()));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#platform.timer(ms, resolve, true));
  }

  /** From 0 to 1. */
  #random(): number {
    const [byte = 0] = this.#platform.randomBytes(1);
    return byte / 255;
  }
}

function newBucket(): CachedBucket {
  const tokens = { ahead: 0, left: 0, leftUntil: 0 };
  return { fullAt: 0, version: undefined, waiting: [], writing: false, writes: 0, wroteAt: 0, pauseMs: 0, ...tokens };
}

/** Tokens for the next pause: more than last time if these were too few, else as many as were used. */
function wantedAhead({ ahead, left }: CachedBucket, count: number): number {
  return left === 0 ? Math.max(2 * ahead, count) : ahead - left;
}

/** Tokens that may be taken ahead of a bucket that will be full in `fullInMs`. */
function maxAhead({ pauseMs }: CachedBucket, fullInMs: number, { intervalMs, burst }: FullRate): number {
  const there = Math.max(0, burst - fullInMs / intervalMs);
  return Math.floor(Math.min(there / 2, pauseMs / intervalMs));
}

/** The key that exists while a node loses against others. */
function losingKey(key: string): string {
  return `${key}/losing`;
}

/** What is no time counts as a full bucket, because only a fault of the storage makes one. */
function readTime(text: string | undefined): number {
  const time = Number(text);
  return Number.isFinite(time) ? time : 0;
}
