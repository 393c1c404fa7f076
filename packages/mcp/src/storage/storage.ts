/**
 * The state that several server processes share: three small stores that a driver can build on one Redis server, one
 * SQLite file or plain memory.
 *
 * Rules for every method of every store:
 *
 * - It returns `T` or `Promise<T>`, so that a store in memory can be synchronous. Callers MUST `await` or handle both.
 * - It MUST be atomic: no other call observes a partial effect. Each method fits one Lua script or SQL transaction.
 * - Keys, streams, topics, values, entries and messages may be any string, including U+0000, `__proto__` and the empty
 *   string, but MUST NOT contain lone surrogates. The three stores have separate namespaces.
 * - If the store fails, the method throws or rejects with a `StorageFailure`, within a time that the driver bounds. It
 *   never returns a wrong answer.
 * - A full store MUST throw a `StorageError` and change nothing. It MUST NOT evict entries that have not expired.
 * - An expired entry MUST be indistinguishable from one that never existed, even if it is still in memory.
 * - Times are whole milliseconds. A `ttlMs` or `maxAgeMs` of 0 or less means "already expired".
 * - Related keys, streams and topics have the same text in their first pair of braces (`http/session/{id}`). A sharded
 *   store may use this text to place them on the same shard. Correctness does not depend on their placement.
 */
export interface Storage {
  /** Values by key, with compare-and-set and expiry. */
  readonly kv: KeyValue;
  /** Ordered entries by stream, such as the events of a session that a client can resume. */
  readonly log: AppendLog;
  /** Messages between the processes that share the storage. */
  readonly pubsub: PubSub;
  /** Ends subscriptions and closes connections. Later calls may fail. */
  close?(): void | Promise<void>;
}

/** A value with the version that compare-and-set compares. */
export interface Versioned {
  /** The stored text. */
  readonly value: string;
  /** A positive integer. MUST NOT repeat for the same key, not even after the key was deleted or expired. */
  readonly version: number;
}

/** The lifetime of a value, and a condition for writing it. */
export interface SetOptions {
  /**
   * Lifetime from now, in milliseconds. Default: the key lives until it is deleted, even if the previous value had a
   * `ttlMs`.
   */
  readonly ttlMs?: number | undefined;
  /** Writes only if this is the current version. 0 means "only if the key does not exist". Default: no condition. */
  readonly ifVersion?: number | undefined;
}

/** A condition for deleting. */
export interface DeleteOptions {
  /** Deletes only if this is the current version. Default: no condition. */
  readonly ifVersion?: number | undefined;
}

/** Values by key, with compare-and-set and expiry. */
export interface KeyValue {
  /** Returns the value of a key. Undefined if the key is absent or expired. */
  get(key: string): Versioned | undefined | Promise<Versioned | undefined>;
  /**
   * Writes a value and returns its new version. If `ifVersion` does not match, returns `undefined` and changes nothing,
   * not even the expiry. If several writers use the same `ifVersion` concurrently, exactly one MUST succeed.
   */
  set(key: string, value: string, options?: SetOptions): number | undefined | Promise<number | undefined>;
  /** Deletes a key. Returns false if the key is absent or `ifVersion` does not match. */
  delete(key: string, options?: DeleteOptions): boolean | Promise<boolean>;
  /**
   * Restarts the lifetime of a key without changing its value or version. Returns false and creates nothing if the key
   * is absent.
   */
  touch(key: string, ttlMs: number): boolean | Promise<boolean>;
}

/** Limits of one stream. They are passed with every append, so that a driver needs no configuration. */
export interface LogLimits {
  /** Maximum number of entries, at least 1. */
  readonly maxEntries: number;
  /** Maximum size of all entries, in UTF-8 bytes. A driver may estimate the size, by at most a factor of 3. */
  readonly maxBytes: number;
  /**
   * Lifetime of this entry in milliseconds, and the upper bound for older entries: an older entry never outlives a
   * newer one.
   */
  readonly maxAgeMs: number;
  /** Lifetime of the whole stream from this append, in milliseconds. Default: the stream lives until it is dropped. */
  readonly ttlMs?: number | undefined;
}

/** One entry of a stream, with its position. */
export interface LogEntry {
  /** The position in the stream, a positive integer. */
  readonly id: number;
  /** The appended text. */
  readonly entry: string;
}

/**
 * The result of a read: entries in order, or `evicted: true` if some of the requested entries are gone or `afterId` is
 * not a position in the stream.
 */
export type LogRead =
  | {
      /** False if no requested entry is gone. */
      readonly evicted: false;
      /** The requested entries, oldest first. */
      readonly entries: readonly LogEntry[];
    }
  | {
      /** True if some requested entries are gone. */
      readonly evicted: true;
    };

/** Ordered entries by stream. The oldest entries are evicted first. */
export interface AppendLog {
  /**
   * Adds `entry` and returns its id, a positive integer.
   *
   * Ids MUST increase within a stream name, even across `drop` and expiry, so that a position in an earlier stream is
   * never valid in a later one. They need not be consecutive. (A driver without counters for dropped names can start each
   * stream at the clock's microseconds.) Afterwards the driver evicts the oldest entries until `maxEntries` and `maxBytes`
   * are met. The new entry MUST stay, even if it is larger than `maxBytes`.
   */
  append(stream: string, entry: string, limits: LogLimits): number | Promise<number>;
  /**
   * Returns up to `limit` entries with ids above `afterId`, oldest first.
   *
   * MUST return `evicted: true` if an entry of this stream above `afterId` is gone (evicted or too old), if `afterId` is
   * above the newest id, or if `afterId` belongs to an earlier stream of this name or to none. Readers thus notice every
   * gap. With `afterId` 0, reads from the beginning: an absent stream then has no entries, and a stream with evicted or
   * expired entries returns `evicted: true`.
   */
  read(stream: string, afterId: number, limit: number): LogRead | Promise<LogRead>;
  /** Restarts the lifetime of a stream. Returns false and creates nothing if the stream is absent. */
  touch(stream: string, ttlMs: number): boolean | Promise<boolean>;
  /** Deletes the stream. Does nothing if the stream is absent. */
  drop(stream: string): void | Promise<void>;
}

/** Ends a subscription. */
export type Unsubscribe = () => void | Promise<void>;

/**
 * Messages to the current subscribers.
 *
 * Each subscription MUST receive, exactly once, every message that is published after `subscribe` has settled, including
 * the publisher's own messages. It MUST receive one publisher's messages on one topic in the order of the `publish`
 * calls.
 *
 * If a driver loses its connection, messages may be lost but never repeated. Put data that must survive into the log,
 * and publish a message as the hint to read the log. The driver reports every such interruption by `onGap`. The
 * subscriber then reads again what it needs.
 */
export interface PubSub {
  /** Publishes a message. Settles when the store has accepted the message. `deliver` may run before or after that. */
  publish(topic: string, message: string): void | Promise<void>;
  /**
   * Calls `deliver` for each message until the returned function settles. After that, the driver MUST NOT call
   * `deliver`. `deliver` MUST NOT throw. If it does, the driver MUST still deliver to the other subscriptions.
   * Subscribing the same function twice creates two subscriptions. Unsubscribing twice does nothing.
   *
   * After each interruption the driver MUST call `onGap` once, when messages arrive again and before it delivers the
   * first of them. The rules for `deliver` apply to `onGap` too. `subscribe` settles only when the store has accepted the
   * subscription, and rejects if the store does not accept it: a driver that cannot reach its store MUST NOT pretend to
   * be subscribed.
   */
  subscribe(topic: string, deliver: (message: string) => void, onGap?: () => void): Unsubscribe | Promise<Unsubscribe>;
}

/**
 * Thrown by a full store. The message names the limit and what to change.
 *
 * @example
 * ```ts
 * import { StorageError, type Storage } from "@parley/mcp/storage";
 *
 * async function store(storage: Storage, key: string, value: string) {
 *   try {
 *     await storage.kv.set(key, value);
 *   } catch (error) {
 *     if (error instanceof StorageError) console.error(`${error.limit} is reached. ${error.fix}`);
 *     throw error;
 *   }
 * }
 * ```
 */
export class StorageError extends Error {
  /** Always `StorageError`. Compare it where `instanceof` does not work across copies of the library. */
  override readonly name = "StorageError";
  /** The option whose limit was reached, such as `maxKeys`. */
  readonly limit: string;
  /** One sentence that says what to change. */
  readonly fix: string;

  constructor(limit: string, maximum: number, fix: string) {
    super(`The storage is full: it has reached its limit ${limit} of ${maximum}. ${fix}`);
    this.limit = limit;
    this.fix = fix;
  }
}

/** The reason why a store failed. */
export type StorageFailureReason = "unavailable" | "timeout" | "read-only" | "corrupt" | "unsupported";

/**
 * Thrown by a store that failed. The message says why and what to change. If a write failed, it may be unknown whether
 * the write took effect.
 *
 * @example
 * ```ts
 * import { StorageFailure } from "@parley/mcp/storage";
 *
 * function report(error: unknown) {
 *   if (error instanceof StorageFailure) console.error(`${error.reason}: ${error.message}. ${error.fix}`);
 * }
 * ```
 */
export class StorageFailure extends Error {
  /** Always `StorageFailure`. Compare it where `instanceof` does not work across copies of the library. */
  override readonly name = "StorageFailure";
  /** The reason, for programs. */
  readonly reason: StorageFailureReason;
  /** One sentence that says what to change. */
  readonly fix: string;

  constructor(reason: StorageFailureReason, message: string, fix: string, options?: ErrorOptions) {
    super(`${message} ${fix}`, options);
    this.reason = reason;
    this.fix = fix;
  }
}
