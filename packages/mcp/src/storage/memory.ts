import { ByteBudget } from "./byte-budget.js";
import { MemoryAppendLog } from "./memory-append-log.js";
import { MemoryKeyValue } from "./memory-key-value.js";
import { MemoryPubSub } from "./memory-pub-sub.js";
import type { Storage } from "./storage.js";

export interface MemoryLimits {
  /** Default 100,000: ten times the sessions that one process usually holds. */
  readonly maxKeys: number;
  /** Default 100,000. */
  readonly maxStreams: number;
  /** Default 100,000. */
  readonly maxSubscriptions: number;
  /** Keys, values and log entries together, in UTF-16 units. Default 256 Mi: a process with a default heap survives it. */
  readonly maxBytes: number;
}

/** The clock and the bounds of a memory storage. */
export interface MemoryStorageOptions {
  /** Milliseconds of a clock that does not go back; a `Platform` fits. */
  readonly clock: { now(): number };
  readonly limits?: Partial<MemoryLimits>;
  /** Hears what a subscriber's `deliver` threw. Default: nothing hears it. */
  readonly onDeliverError?: (error: unknown, topic: string) => void;
}

/** What a memory storage holds, expired and not yet swept entries counted. */
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
  /** Frees everything that has expired, at once. Never needed for a right answer; an idle process may call it. */
  sweep(): void;
  usage(): MemoryUsage;
  /** Forgets everything and ends all subscriptions. */
  close(): void;
}

const DEFAULT_LIMITS: MemoryLimits = {
  maxKeys: 100_000,
  maxStreams: 100_000,
  maxSubscriptions: 100_000,
  maxBytes: 256 * 1024 * 1024,
};

/** Makes a storage that lives and dies with this process. It starts no timer: expired entries go as others are used. */
export function memoryStorage(options: MemoryStorageOptions): MemoryStorage {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const now = () => options.clock.now();
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
