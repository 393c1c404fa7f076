import { guarded } from "../encoding/maybe-promise.js";
import { type Some, withDefaults } from "../encoding/with-defaults.js";
import { ByteBudget } from "./expiring-map.js";
import { MemoryAppendLog } from "./memory-append-log.js";
import { MemoryKeyValue } from "./memory-key-value.js";
import { type PubSub, type Storage, StorageError } from "./storage.js";

/** The limits of a memory storage. A write or subscription beyond a limit throws a `StorageError`. */
export interface MemoryLimits {
  /** Maximum number of keys. Default: 100,000, ten times the number of sessions in a busy process. */
  readonly maxKeys: number;
  /** Maximum number of streams. Default: 100,000, as for keys, because each session has about one stream. */
  readonly maxStreams: number;
  /**
   * Maximum number of subscriptions. Default: 100,000, as for keys, because each session has at most one subscription.
   */
  readonly maxSubscriptions: number;
  /**
   * Maximum size of keys, values and log entries together, in UTF-16 units. Default: 256 Mi, which fits Node's default
   * heap.
   */
  readonly maxBytes: number;
}

/** Options of a memory storage. */
export interface MemoryStorageOptions {
  /**
   * A clock in milliseconds that never goes backwards. The storage uses `monotonic` if it exists, so a `Platform` can
   * be passed. Default in `memoryStorage`: the clock of the runtime.
   */
  readonly clock: { now(): number; monotonic?(): number };
  /** Limits on the content. Each has a default. */
  readonly limits?: Some<MemoryLimits> | undefined;
  /** Receives the errors thrown by a subscriber's `deliver`. Default: the errors are ignored. */
  readonly onDeliverError?: ((error: unknown, topic: string) => void) | undefined;
}

/** The amount of content in a memory storage, including expired entries that are not removed yet. */
export interface MemoryUsage {
  /** Number of keys. */
  readonly keys: number;
  /** Number of streams of the log. */
  readonly streams: number;
  /** Number of active subscriptions. */
  readonly subscriptions: number;
  /** Size of keys, values and log entries in UTF-16 units, the unit of `maxBytes`. */
  readonly bytes: number;
}

/** A storage within one process. Every method is synchronous. */
export interface MemoryStorage extends Storage {
  /** Values by key. */
  readonly kv: MemoryKeyValue;
  /** Ordered entries by stream. */
  readonly log: MemoryAppendLog;
  /** Messages between the parts of this process. */
  readonly pubsub: MemoryPubSub;
  /** Removes all expired entries now. Not needed for correctness, but frees memory in an idle process. */
  sweep(): void;
  /** Reports the amount of content, for comparison with the limits. */
  usage(): MemoryUsage;
  /** Deletes all content and ends all subscriptions. */
  close(): void;
}

const DEFAULT_MEMORY_LIMITS: MemoryLimits = {
  maxKeys: 100_000,
  maxStreams: 100_000,
  maxSubscriptions: 100_000,
  maxBytes: 256 * 1024 * 1024,
};

/**
 * Creates a storage in the memory of this process. It starts no timer: each read also removes a few expired entries.
 */
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
 * Publishes messages within this process.
 *
 * `publish` delivers before it returns. A `publish` inside `deliver` is queued until the current delivery has finished, so
 * that every subscription sees the same order.
 */
export class MemoryPubSub implements PubSub {
  readonly #maxSubscriptions: number;
  readonly #onDeliverError: (error: unknown, topic: string) => void;
  readonly #topics = new Map<string, Set<Subscription>>();
  readonly #queue: Delivery[] = [];
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
    this.#queue.push({ topic, message, to: [...subscriptions] });
    if (this.#delivering) return;
    this.#delivering = true;
    // If a `deliver` publishes, the message is appended to the array during this loop and delivered by it.
    for (const delivery of this.#queue) this.#deliver(delivery);
    this.#queue.length = 0;
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

  /** Reports an error of a subscriber. */
  #report(error: unknown, topic: string): void {
    // A reporter that fails must not stop delivery to the other subscriptions.
    guarded(
      () => this.#onDeliverError(error, topic),
      () => {},
    );
  }
}
