import type { MaybePromise } from "../../encoding/maybe-promise.js";
import type { Platform } from "../../platform/platform.js";
import { acquireToken } from "../../platform/token-bucket.js";
import type { KeyValue } from "../../storage/storage.js";
import type { FullRate } from "../contract/quota-options.js";

/**
 * Maximum number of attempts to write a bucket that other nodes change at the same time. After that, the calls are
 * refused, or the storage counts as failed if no other node wrote.
 */
const MAX_ATTEMPTS = 20;
/** The wait that a refusal advises if other nodes wrote first in every attempt. */
const CROWDED_OUT_MS = 100;
/**
 * A node loses a write if another node has changed the bucket first. After this number of losses in a row, the node
 * stores a note for the other nodes. It renews the note after as many further losses. One loss is not enough, because
 * it may only mean that the cached version was old.
 */
const LOSSES = 3;
/** Lifetime of the note in the storage. */
const LOSING_MS = 150;
/** Longest pause between two attempts. */
const MAX_BACKOFF_MS = 32;
/** Number of successful writes in a row after which a node checks for the note of a node that loses its writes. */
const WRITES = 8;
/** Maximum time between two writes that count as writes in a row. */
const ROW_MS = 100;
/**
 * Average pause of a node after a write while other nodes lose their writes. It starts at `PAUSE_MS` and doubles up to
 * `MAX_PAUSE_MS`.
 */
const PAUSE_MS = 20;
const MAX_PAUSE_MS = 320;
/**
 * Longest pause, as a multiple of the average pause. A pause is random, and the shortest one is `MAX_PAUSE_FACTOR - 1`
 * times the average.
 */
const MAX_PAUSE_FACTOR = 1.5;
/** Time without a write after which a node assumes that no other node competes for the bucket. */
const QUIET_MS = 1000;
/** Additional lifetime of a key, for nodes whose clocks differ. */
const CLOCKS_DIFFER_MS = 10_000;

interface Waiter {
  resolve(waitMs: number): void;
  reject(error: unknown): void;
}

/**
 * The cached state of a bucket. `fullAt` in the storage never decreases, so a refusal from the cache remains correct.
 */
interface CachedBucket {
  fullAt: number;
  version: number | undefined;
  /** Calls of this node that want a token. One write serves all of them. */
  waiting: Waiter[];
  writing: boolean;
  /** Number of writes in a row, and the time of the last write. */
  writes: number;
  wroteAt: number;
  /** Average pause after a write; 0 while no other node is known to lose its writes. */
  pauseMs: number;
  /**
   * Tokens taken in advance for calls during the pause, how many of them are left, and the time at which they expire.
   */
  ahead: number;
  left: number;
  leftUntil: number;
}

type ClockAndRandom = Pick<Platform, "now" | "monotonic" | "timer" | "randomBytes">;

/**
 * Buckets in a storage, shared by all nodes. Each node uses its own clock: a clock that is ahead fills a bucket sooner.
 *
 * A node close to the storage can write again before a distant node has finished its compare-and-set. Therefore a node
 * that loses its writes stores a note beside the bucket, and nodes that write often pause while the note exists. Before
 * a pause, they take tokens in advance for the calls during the pause: at most as many as the bucket gains during the
 * pause, and at most half of the tokens in the bucket.
 *
 * All nodes together never admit more than the burst plus the tokens gained since the bucket was first used. For a later
 * period they may exceed the burst plus the gain of that period, by at most the gain of half a second.
 */
export class SharedBuckets {
  readonly #platform: ClockAndRandom;
  readonly #kv: KeyValue;
  readonly #max: number;
  /** The least recently used bucket comes first. */
  readonly #cached = new Map<string, CachedBucket>();

  constructor(platform: ClockAndRandom, kv: KeyValue, max: number) {
    this.#platform = platform;
    this.#kv = kv;
    this.#max = max;
  }

  get size(): number {
    return this.#cached.size;
  }

  /**
   * Takes a token and returns 0, or returns the milliseconds until the next token or the next useful attempt. Rejects
   * if the storage fails.
   */
  acquire(key: string, rate: FullRate): MaybePromise<number> {
    const bucket = this.#bucketOf(key);
    if (bucket.left > 0 && this.#platform.monotonic() < bucket.leftUntil) {
      bucket.left -= 1;
      return 0;
    }
    const { waitMs, fullAt } = acquireToken(bucket.fullAt, this.#platform.now(), rate);
    if (waitMs > 0) {
      bucket.fullAt = fullAt;
      return waitMs;
    }
    // The calls that already wait would use up even a full bucket, so this call is refused at once.
    if (bucket.waiting.length >= rate.burst) return rate.intervalMs;
    return new Promise((resolve, reject) => {
      bucket.waiting.push({ resolve, reject });
      if (!bucket.writing) void this.#write(key, bucket, rate);
    });
  }

  #bucketOf(key: string): CachedBucket {
    const bucket = this.#cached.get(key) ?? newBucket();
    this.#cached.delete(key);
    this.#cached.set(key, bucket);
    if (this.#cached.size > this.#max) {
      for (const [oldest] of this.#cached) {
        this.#cached.delete(oldest);
        break;
      }
    }
    return bucket;
  }

  async #write(key: string, bucket: CachedBucket, rate: FullRate): Promise<void> {
    bucket.writing = true;
    if (this.#platform.monotonic() - bucket.wroteAt > QUIET_MS) bucket.pauseMs = bucket.ahead = bucket.left = 0;
    while (bucket.waiting.length > 0) {
      const waiting = bucket.waiting.splice(0);
      try {
        const waits = await this.#acquireAll(key, bucket, rate, waiting.length);
        waiting.forEach((waiter, index) => {
          waiter.resolve(waits[index] ?? 0);
        });
        if (waits.includes(0)) await this.#yieldToOthers(key, bucket);
      } catch (error) {
        bucket.version = undefined;
        for (const waiter of waiting) waiter.reject(error);
      }
    }
    bucket.writing = false;
  }

  /** Returns the wait of each of `count` calls, after one write for those that got a token. */
  async #acquireAll(key: string, bucket: CachedBucket, rate: FullRate, count: number): Promise<number[]> {
    let compared = bucket.version;
    let others = false;
    for (let lost = 0; lost < MAX_ATTEMPTS; lost++) {
      if (lost >= LOSSES) await this.#backOff(key, lost);
      if (bucket.version === undefined) {
        const read = await this.#read(key, bucket);
        others ||= lost > 0 && read !== compared;
        compared = read;
      }
      const now = this.#platform.now();
      let { fullAt } = bucket;
      const waits = Array.from({ length: count }, () => {
        const taken = acquireToken(fullAt, now, rate);
        fullAt = taken.fullAt;
        return taken.waitMs;
      });
      if (!waits.includes(0)) {
        bucket.fullAt = fullAt;
        return waits;
      }
      const ahead = waits.at(-1) === 0 ? Math.min(wantedAhead(bucket, count), maxAhead(bucket, fullAt - now, rate)) : 0;
      fullAt += ahead * rate.intervalMs;
      const ttlMs = Math.ceil(fullAt - now) + CLOCKS_DIFFER_MS;
      bucket.version = await this.#kv.set(key, String(fullAt), { ttlMs, ifVersion: compared });
      if (bucket.version === undefined) continue;
      bucket.fullAt = fullAt;
      bucket.ahead = bucket.left = ahead;
      bucket.leftUntil = this.#platform.monotonic() + MAX_PAUSE_FACTOR * bucket.pauseMs;
      return waits;
    }
    if (others) return Array.from({ length: count }, () => CROWDED_OUT_MS);
    throw new Error(`the storage refused ${MAX_ATTEMPTS} writes of a count in a row, although no other node wrote it`);
  }

  async #read(key: string, bucket: CachedBucket): Promise<number> {
    const stored = await this.#kv.get(key);
    bucket.fullAt = readTime(stored?.value);
    bucket.version = stored?.version ?? 0;
    return bucket.version;
  }

  /**
   * Pauses for a random time, so that nodes that lost do not collide again. Writes the note after every `LOSSES`
   * losses.
   */
  async #backOff(key: string, lost: number): Promise<void> {
    if (lost % LOSSES === 0) await this.#kv.set(losingKey(key), "", { ttlMs: LOSING_MS });
    await this.#pause(Math.min(2 ** lost, MAX_BACKOFF_MS) * this.#random());
  }

  /** Pauses after a write if the note shows that another node loses its writes. */
  async #yieldToOthers(key: string, bucket: CachedBucket): Promise<void> {
    const now = this.#platform.monotonic();
    bucket.writes = now - bucket.wroteAt > ROW_MS ? 1 : bucket.writes + 1;
    bucket.wroteAt = now;
    if (bucket.pauseMs === 0 && bucket.writes < WRITES) return;
    bucket.writes = 0;
    const losing = (await this.#kv.get(losingKey(key))) !== undefined;
    if (losing) bucket.pauseMs = Math.min(Math.max(2 * bucket.pauseMs, PAUSE_MS), MAX_PAUSE_MS);
    else bucket.pauseMs = bucket.pauseMs > PAUSE_MS ? bucket.pauseMs / 2 : 0;
    if (bucket.pauseMs > 0) await this.#pause(bucket.pauseMs * (MAX_PAUSE_FACTOR - this.#random()));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#platform.timer(ms, resolve, true));
  }

  /** Returns a random number from 0 to 1. */
  #random(): number {
    const [byte = 0] = this.#platform.randomBytes(1);
    return byte / 255;
  }
}

function newBucket(): CachedBucket {
  const tokens = { ahead: 0, left: 0, leftUntil: 0 };
  return { fullAt: 0, version: undefined, waiting: [], writing: false, writes: 0, wroteAt: 0, pauseMs: 0, ...tokens };
}

/**
 * The number of tokens to take for the next pause: more than last time if none were left, else as many as were used.
 */
function wantedAhead({ ahead, left }: CachedBucket, count: number): number {
  return left === 0 ? Math.max(2 * ahead, count) : ahead - left;
}

/** Maximum number of tokens to take in advance from a bucket that will be full in `fullInMs`. */
function maxAhead({ pauseMs }: CachedBucket, fullInMs: number, { intervalMs, burst }: FullRate): number {
  const there = Math.max(0, burst - fullInMs / intervalMs);
  return Math.floor(Math.min(there / 2, pauseMs / intervalMs));
}

/** The key of the note that a node stores while it loses its writes. */
function losingKey(key: string): string {
  return `${key}/losing`;
}

/**
 * Returns 0, which means a full bucket, for a missing or unreadable value. Only a fault of the storage produces an
 * unreadable value.
 */
function readTime(text: string | undefined): number {
  const time = Number(text);
  return Number.isFinite(time) ? time : 0;
}
