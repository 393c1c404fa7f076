import { randomName } from "../../encoding/base64.js";
import type { Platform, Timer } from "../../platform/platform.js";
import type { KeyValue } from "../../storage/storage.js";

/**
 * Maximum number of attempts to write places that other nodes change at the same time. After that, the storage counts
 * as failed.
 */
const MAX_ATTEMPTS = 20;

type ClockAndRandom = Pick<Platform, "now" | "timer" | "randomBytes">;

/** The stored places of each node: their number, and the time at which they expire unless the node renews them. */
type PlacesByNode = Record<string, [count: number, until: number]>;

interface Waiter {
  readonly max: number;
  resolve(entered: boolean): void;
  reject(error: unknown): void;
}

/** The places that this node holds for one caller, or for all callers together. */
interface NodePlaces {
  /** Places of calls on this node. */
  count: number;
  /** Calls of this node that want a place. One write serves all of them. */
  waiting: Waiter[];
  writing: boolean;
  /** True if the stored number differs from `count`, or must be renewed. */
  stale: boolean;
}

/**
 * The places of calls that run at once on all nodes together. A node renews its places while it has some. The places of
 * a node that died become free after `leaseMs`.
 */
export class SharedPlaces {
  readonly #platform: ClockAndRandom;
  readonly #kv: KeyValue;
  readonly #leaseMs: number;
  readonly #node: string;
  /** Has entries only for keys with a running or waiting call, so the number of calls bounds the map. */
  readonly #held = new Map<string, NodePlaces>();
  #renewing: Timer | undefined;

  constructor(platform: ClockAndRandom, kv: KeyValue, leaseMs: number) {
    this.#platform = platform;
    this.#kv = kv;
    this.#leaseMs = leaseMs;
    this.#node = randomName(platform, 9);
  }

  get size(): number {
    return this.#held.size;
  }

  /**
   * Acquires a place. Resolves with false if `max` places are taken on all nodes together. Rejects if the storage
   * fails; the call then has no place.
   */
  acquire(key: string, max: number): Promise<boolean> {
    const held = this.#held.get(key) ?? { count: 0, waiting: [], writing: false, stale: false };
    this.#held.set(key, held);
    return new Promise((resolve, reject) => {
      held.waiting.push({ max, resolve, reject });
      this.#startWriting(key, held);
    });
  }

  /**
   * Releases a place. The caller does not wait for the write. If the write fails, the next write or the end of the
   * lease corrects the count.
   */
  release(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    held.count -= 1;
    held.stale = true;
    this.#startWriting(key, held);
  }

  /** Stops the renewal. Places that are still taken become free when their lease expires. */
  close(): void {
    this.#renewing?.cancel();
    this.#renewing = undefined;
  }

  #startWriting(key: string, held: NodePlaces): void {
    if (!held.writing) void this.#write(key, held);
  }

  async #write(key: string, held: NodePlaces): Promise<void> {
    held.writing = true;
    while (held.waiting.length > 0 || held.stale) {
      const waiting = held.waiting.splice(0);
      try {
        const entered = await this.#store(key, held, waiting);
        waiting.forEach((waiter, index) => {
          waiter.resolve(index < entered);
        });
      } catch (error) {
        for (const waiter of waiting) waiter.reject(error);
      }
    }
    held.writing = false;
    if (held.count === 0) this.#held.delete(key);
    else this.#renewLater();
  }

  /** Stores the places of this node, plus one for each of `waiting` that fits. Returns how many fit. */
  async #store(key: string, held: NodePlaces, waiting: readonly Waiter[]): Promise<number> {
    held.stale = false;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const stored = await this.#kv.get(key);
      const now = this.#platform.now();
      const places = livePlaces(stored?.value, now);
      delete places[this.#node];
      const others = Object.values(places).reduce((sum, [count]) => sum + count, 0);
      const own = held.count;
      let entered = 0;
      while (entered < waiting.length && others + own + entered < (waiting[entered]?.max ?? 0)) entered++;
      if (own + entered > 0) places[this.#node] = [own + entered, now + this.#leaseMs];
      if (await this.#replace(key, places, stored?.version ?? 0)) {
        held.count += entered;
        return entered;
      }
    }
    throw new Error(`the storage refused ${MAX_ATTEMPTS} writes of a count in a row`);
  }

  async #replace(key: string, places: PlacesByNode, ifVersion: number): Promise<boolean> {
    if (Object.keys(places).length > 0) {
      const written = await this.#kv.set(key, JSON.stringify(places), { ttlMs: this.#leaseMs, ifVersion });
      return written !== undefined;
    }
    return ifVersion === 0 || (await this.#kv.delete(key, { ifVersion }));
  }

  #renewLater(): void {
    this.#renewing ??= this.#platform.timer(Math.ceil(this.#leaseMs / 3), () => {
      this.#renewing = undefined;
      for (const [key, held] of this.#held) {
        held.stale = true;
        this.#startWriting(key, held);
      }
    });
  }
}

/** Returns the places of nodes whose lease has not expired; none if the text is damaged. */
function livePlaces(text: string | undefined, now: number): PlacesByNode {
  const places: PlacesByNode = Object.create(null);
  if (text === undefined) return places;
  try {
    for (const [node, entry] of Object.entries(JSON.parse(text) as Record<string, unknown>)) {
      if (!Array.isArray(entry)) continue;
      const [count, until] = entry as unknown[];
      if (typeof count === "number" && typeof until === "number" && until > now) places[node] = [count, until];
    }
  } catch {
    // Damaged text comes from a fault of the storage. It counts as no places. Otherwise all callers would be refused
    // even after the fault is repaired.
  }
  return places;
}
