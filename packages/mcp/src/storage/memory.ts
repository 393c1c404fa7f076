import { guarded } from "../encoding/maybe-promise.js";
import { type Some, withDefaults } from "../encoding/with-defaults.js";
import { ByteBudget } from "./expiring-map.js";
import { MemoryAppendLog } from "./memory-append-log.js";
import { MemoryKeyValue } from "./memory-key-value.js";
import { type PubSub, type Storage, StorageError } from "./storage.js";

export interface MemoryLimits {
  /** Default 100,000: ten times the sessions of a busy process. */
  readonly maxKeys: number;
  /** Default 100,000, as for keys: each session has about one stream. */
  readonly maxStreams: number;
  /** Default 100,000, as for keys: each session has at most one subscription. */
  readonly maxSubscriptions: number;
  /** Keys, values and log entries together, in UTF-16 units. Default 256 Mi, which fits Node's default heap. */
  readonly maxBytes: number;
}

/** The clock and limits of a memory storage. */
export interface MemoryStorageOptions {
  /** A clock in milliseconds that never goes back. A `Platform` fits: of its two clocks, `monotonic` is taken. */
  readonly clock: { now(): number; monotonic?(): number };
  /** Bounds of what it holds; each has a default. */
  readonly limits?: Some<MemoryLimits> | undefined;
  /** Receives what a subscriber's `deliver` threw. Default: errors are ignored. */
  readonly onDeliverError?: ((error: unknown, topic: string) => void) | undefined;
}

/** What a memory storage holds, including expired entries that are not swept yet. */
export interface MemoryUsage {
  readonly keys: number;
  readonly streams: number;
  readonly subscriptions: number;
  readonly bytes: number;
}

/** The storage contract within one process; every method is synchronous. */
export interface MemoryStorage extends Storage {
  readonly kv: MemoryKeyValue;
  readonly log: MemoryAppendLog;
  readonly pubsub: MemoryPubSub;
  /** Frees all expired entries now. Never needed for correctness; useful in an idle process. */
  sweep(): void;
  usage(): MemoryUsage;
  /** Deletes everything and ends all subscriptions. */
  close(): void;
}

const DEFAULT_MEMORY_LIMITS: MemoryLimits = {
  maxKeys: 100_000,
  maxStreams: 100_000,
  maxSubscriptions: 100_000,
  maxBytes: 256 * 1024 * 1024,
};

/** Makes a storage in the memory of this process. It starts no timer: each access also removes a few expired entries. */
export function createMemoryStorage(options: MemoryStorageOptions): MemoryStorage {
  const limits = withDefaults(DEFAULT_MEMORY_LIMITS, options.limits);
  const { clock } = options;
  const now = () => (clock.monotonic === undefined ? clock.now() : clock.monotonic());
  const budget = new ByteBudget(limits.maxBytes);
  const kv = new MemoryKeyValue(now, limits.maxKeys, budget);
  const log = new MemoryAppendLog(now, limits.maxStreams, budget);
  const pubsub = new MemoryPubSub(limits.maxSubscriptions, options.onDeliverError ?? (() => {}));
  return {
    kv,
    log,
    pubsub,
    sweep() {
      kv.sweep();
      log.sweep();
    },
    usage: () => ({ keys: kv.size, streams: log.size, subscriptions: pubsub.size, bytes: budget.used }),
    close() {
      kv.clear();
      log.clear();
      pubsub.clear();
    },
  };
}

interface Subscription {
  readonly deliver: (message: string) => void;
  active: boolean;
}

interface Delivery {
  readonly topic: string;
  readonly message: string;
  readonly to: readonly Subscription[];
}

/**
 * Messages within this process. `publish` delivers before it returns, unless a `deliver` calls it: then the message
 * waits for the current delivery to finish, so that every subscription sees the same order.
 */
export class MemoryPubSub implements PubSub {
  readonly #maxSubscriptions: number;
  readonly #onDeliverError: (error: unknown, topic: string) => void;
  readonly #topics = new Map<string, Set<Subscription>>();
  readonly #waiting: Delivery[] = [];
  #delivering = false;
  #size = 0;

  constructor(maxSubscriptions: number, onDeliverError: (error: unknown, topic: string) => void) {
    this.#maxSubscriptions = maxSubscriptions;
    this.#onDeliverError = onDeliverError;
  }

  get size(): number {
    return this.#size;
  }

  publish(topic: string, message: string): void {
    const subscriptions = this.#topics.get(topic);
    if (subscriptions === undefined) return;
    this.#waiting.push({ topic, message, to: [...subscriptions] });
    if (this.#delivering) return;
    this.#delivering = true;
    // The array grows during this loop when a `deliver` publishes.
    for (const delivery of this.#waiting) this.#deliver(delivery);
    this.#waiting.length = 0;
    this.#delivering = false;
  }

  subscribe(topic: string, deliver: (message: string) => void): () => void {
    if (this.#size >= this.#maxSubscriptions) {
      throw new StorageError(
        "maxSubscriptions",
        this.#maxSubscriptions,
        "Raise limits.maxSubscriptions of memoryStorage.",
      );
    }
    const subscription: Subscription = { deliver, active: true };
    const subscriptions = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, subscriptions.add(subscription));
    this.#size++;
    return () => {
      if (!subscription.active) return;
      subscription.active = false;
      this.#size--;
      subscriptions.delete(subscription);
      if (subscriptions.size === 0 && this.#topics.get(topic) === subscriptions) this.#topics.delete(topic);
    };
  }

  clear(): void {
    for (const subscriptions of this.#topics.values()) {
      for (const subscription of subscriptions) subscription.active = false;
    }
    this.#topics.clear();
    this.#size = 0;
  }

  #deliver({ topic, message, to }: Delivery): void {
    for (const subscription of to) {
      if (!subscription.active) continue;
      guarded(
        () => subscription.deliver(message),
        (error) => this.#report(error, topic),
      );
    }
  }

  /** A reporter that fails must not stop delivery to the other subscriptions. */
  #report(error: unknown, topic: string): void {
    // Where the reporter itself fails, there is nowhere left to report to.
    guarded(
      () => this.#onDeliverError(error, topic),
      () => {},
    );
  }
}
