/**
 * State that several server processes share: three small stores that a driver can build on one Redis, one SQLite file
 * or plain memory.
 *
 * Rules for every method of every part:
 *
 * - It returns `T` or `Promise<T>`, so that memory can be synchronous; callers MUST `await` or handle both.
 * - It MUST be atomic: no other call observes a partial effect. Each method fits one Lua script or SQL transaction.
 * - Keys, streams, topics, values, entries and messages may be any string, including U+0000, `__proto__` and the empty
 *   string, but MUST NOT contain lone surrogates. The three stores have separate namespaces.
 * - If the store fails, the method throws or rejects with a `StorageFailure`, within a time that the driver bounds; it never
 *   returns a wrong answer. A full store MUST throw a `StorageError` and change nothing; it MUST NOT evict entries that have
 *   not expired.
 * - An expired entry MUST be indistinguishable from one that never existed, even if it is still in memory.
 * - Times are whole milliseconds; a `ttlMs` or `maxAgeMs` of 0 or less means "already expired".
 * - Keys, streams and topics that belong together have the same text in their first pair of braces (`http/session/{id}`). A
 *   store of several parts may use it to keep them together; nothing depends on that.
 */
export interface Storage {
  readonly kv: KeyValue;
  readonly log: AppendLog;
  readonly pubsub: PubSub;
  /** Ends subscriptions and connections. Calls after it may fail. */
  close?(): void | Promise<void>;
}

/** A value with the version that compare-and-set compares. */
export interface Versioned {
  readonly value: string;
  /** A positive integer. MUST NOT repeat for the same key, not even after the key was deleted or expired. */
  readonly version: number;
}

/** The lifetime of a value, and a condition for writing it. */
export interface SetOptions {
  /** Lifetime from now. Without it the key lives until deleted, even if the previous value had a `ttlMs`. */
  readonly ttlMs?: number | undefined;
  /** Write only if the current version is this one; 0 means "only if the key does not exist". */
  readonly ifVersion?: number | undefined;
}

/** A condition for deleting. */
export interface DeleteOptions {
  /** Delete only if the current version is this one. */
  readonly ifVersion?: number | undefined;
}

/** Values by key, with compare-and-set and expiry. */
export interface KeyValue {
  get(key: string): Versioned | undefined | Promise<Versioned | undefined>;
  /**
   * Writes and returns the new version, or returns `undefined` and changes nothing (not even the expiry) if
   * `ifVersion` does not match. Of several concurrent writers with the same `ifVersion` exactly one MUST succeed.
   */
  set(key: string, value: string, options?: SetOptions): number | undefined | Promise<number | undefined>;
  /** Returns whether the key was deleted. */
  delete(key: string, options?: DeleteOptions): boolean | Promise<boolean>;
  /** Restarts the lifetime of a key; value and version stay. Returns false and creates nothing if the key is absent. */
  touch(key: string, ttlMs: number): boolean | Promise<boolean>;
}

/** Limits of one stream. Passed with every append, so that a driver needs no configuration of its own. */
export interface LogLimits {
  /** Entries kept, at least 1. */
  readonly maxEntries: number;
  /** UTF-8 bytes of all kept entries; a driver may estimate, by at most a factor of 3. */
  readonly maxBytes: number;
  /** Lifetime of this entry, and the upper bound for older entries: an older entry never outlives a newer one. */
  readonly maxAgeMs: number;
  /** Lifetime of the whole stream from this append. Without it the stream lives until dropped. */
  readonly ttlMs?: number | undefined;
}

/** One entry of a stream, with its position. */
export interface LogEntry {
  readonly id: number;
  readonly entry: string;
}

/** Entries in order, or the information that some of the requested entries are gone. */
export type LogRead = { readonly evicted: false; readonly entries: readonly LogEntry[] } | { readonly evicted: true };

/** Ordered entries by stream; the oldest are evicted first. */
export interface AppendLog {
  /**
   * Adds `entry` and returns its id, a positive integer.
   *
   * Ids MUST increase within a stream name, even across `drop` and expiry, so that a position in an earlier stream is
   * never valid in a later one; they need not be consecutive. (A driver that keeps no counter for dropped names can
   * start each stream at the clock's microseconds.) Afterwards the oldest entries are evicted until `maxEntries` and
   * `maxBytes` hold; the entry just added MUST stay, whatever its size.
   */
  append(stream: string, entry: string, limits: LogLimits): number | Promise<number>;
  /**
   * Returns up to `limit` entries with ids above `afterId`, oldest first.
   *
   * MUST return `evicted: true` if an entry of this stream above `afterId` is gone (evicted or too old), if `afterId`
   * is above the newest id, or if it belongs to an earlier stream of this name or to none: a reader must learn about a
   * gap, not skip it. `afterId` 0 reads from the beginning: an absent stream then has no entries, and a stream that
   * has lost entries returns `evicted: true`.
   */
  read(stream: string, afterId: number, limit: number): LogRead | Promise<LogRead>;
  /** Restarts the lifetime of a stream. Returns false and creates nothing if the stream is absent. */
  touch(stream: string, ttlMs: number): boolean | Promise<boolean>;
  /** Deletes the stream. Does nothing if it is absent. */
  drop(stream: string): void | Promise<void>;
}

/** Ends a subscription. */
export type Unsubscribe = () => void | Promise<void>;

/**
 * Messages to the current subscribers.
 *
 * Each subscription MUST receive every message published after `subscribe` settled exactly once, including the
 * publisher's own, and one publisher's messages on one topic in the order of its `publish` calls. If a driver loses its
 * connection, messages may be lost but never repeated: put data that must survive into the log, and publish a message
 * as the hint to read it. A subscriber learns of every such interruption by `onGap`, and then reads again what it needs.
 */
export interface PubSub {
  /** Settles when the store has accepted the message; `deliver` may run before or after that. */
  publish(topic: string, message: string): void | Promise<void>;
  /**
   * Calls `deliver` for each message until the returned function settles; after that it MUST NOT be called. `deliver`
   * MUST NOT throw; if it does, a driver MUST still deliver to the other subscriptions. Subscribing the same function
   * twice makes two subscriptions. Unsubscribing twice does nothing.
   *
   * After each interruption a driver MUST call `onGap` once, when messages arrive again and before it delivers the first of
   * them; the same rules as for `deliver` apply. Settles only when the store has accepted the subscription, and rejects if
   * it does not: a driver that cannot reach its store MUST NOT pretend to be subscribed.
   */
  subscribe(topic: string, deliver: (message: string) => void, onGap?: () => void): Unsubscribe | Promise<Unsubscribe>;
}

/** Thrown by a full store: names the limit and what to change. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly limit: string;
  readonly fix: string;

  constructor(limit: string, maximum: number, fix: string) {
    super(`The storage is full: it has reached its limit ${limit} of ${maximum}. ${fix}`);
    this.limit = limit;
    this.fix = fix;
  }
}

/** Why a store could not do what it was asked to. */
export type StorageFailureReason = "unavailable" | "timeout" | "read-only" | "corrupt" | "unsupported";

/** Thrown by a store that is out of order: says why, and what to change. Whether a write took effect may be unknown. */
export class StorageFailure extends Error {
  override readonly name = "StorageFailure";
  readonly reason: StorageFailureReason;
  readonly fix: string;

  constructor(reason: StorageFailureReason, message: string, fix: string, options?: ErrorOptions) {
    super(`${message} ${fix}`, options);
    this.reason = reason;
    this.fix = fix;
  }
}
