/**
 * What a server remembers outside one process: three small stores that a driver can build from one Redis, one SQLite
 * file or plain memory.
 *
 * Rules for every method of every part:
 *
 * - It returns `T` or `Promise<T>`, so that memory stays synchronous; callers MUST `await` or handle both.
 * - It MUST take effect at one instant: no other call sees half of it. Nothing needs more than one such step, so each
 *   method fits one Lua script or one SQL transaction.
 * - Keys, streams, topics, values, entries and messages are any strings, U+0000, `__proto__` and the empty string among
 *   them; lone surrogates are the only ones a caller MUST NOT use. The three parts have separate names.
 * - Failure of the store is a throw or a rejection, never a wrong answer. A store that is full MUST refuse with a
 *   `StorageError` and change nothing; it MUST NOT make room by forgetting what has not expired.
 * - What has expired MUST look as if it had never been there, whether or not it was swept.
 * - Times are whole milliseconds; a `ttlMs` or `maxAgeMs` of 0 or less means "already over".
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
  /** A positive integer. MUST NOT come back for the same key, not even after the key was deleted or has expired. */
  readonly version: number;
}

/** The life of a value, and a condition on writing it. */
export interface SetOptions {
  /** Life from now on. Without it the key lives until deleted, also where the former value had a `ttlMs`. */
  readonly ttlMs?: number;
  /** Write only if the present version is this one; 0 means "only if the key is absent". */
  readonly ifVersion?: number;
}

/** A condition on deleting. */
export interface DeleteOptions {
  /** Delete only if the present version is this one. */
  readonly ifVersion?: number;
}

/** Values by key, with compare-and-set and expiry. */
export interface KeyValue {
  get(key: string): Versioned | undefined | Promise<Versioned | undefined>;
  /**
   * Writes and returns the new version, or returns `undefined` and changes nothing (the expiry neither) when
   * `ifVersion` does not hold. Of several racing writers with the same `ifVersion` exactly one MUST succeed.
   */
  set(key: string, value: string, options?: SetOptions): number | undefined | Promise<number | undefined>;
  /** Returns whether something was deleted. */
  delete(key: string, options?: DeleteOptions): boolean | Promise<boolean>;
  /** Starts the life of a key anew; value and version stay. Returns false, and creates nothing, where the key is absent. */
  touch(key: string, ttlMs: number): boolean | Promise<boolean>;
}

/** What one stream may hold. Given with every append, so that a driver needs no settings of its own. */
export interface LogLimits {
  /** Entries kept, at least 1. */
  readonly maxEntries: number;
  /** UTF-8 bytes of all kept entries; a driver may estimate, by at most a factor of 3. */
  readonly maxBytes: number;
  /** Life of this entry, and the most that older entries may live on: what is older never outlives what is newer. */
  readonly maxAgeMs: number;
  /** Life of the whole stream from this append on. Without it the stream lives until dropped. */
  readonly ttlMs?: number;
}

/** One entry of a stream, with its place. */
export interface LogEntry {
  readonly id: number;
  readonly entry: string;
}

/** Entries in order, or the news that some of those asked for are gone. */
export type LogRead = { readonly evicted: false; readonly entries: readonly LogEntry[] } | { readonly evicted: true };

/** Ordered entries by stream, the oldest forgotten first. */
export interface AppendLog {
  /**
   * Adds `entry` and returns its id, a positive integer.
   *
   * Ids MUST grow within a stream name, also across `drop` and expiry, so that a reader of a former stream cannot
   * mistake its position for one in the new stream; they need not be consecutive. (A driver that keeps no counter for
   * names that are gone can start each stream at the clock's microseconds.) Then the oldest entries are evicted until
   * `maxEntries` and `maxBytes` hold; the entry just added MUST stay, whatever its size.
   */
  append(stream: string, entry: string, limits: LogLimits): number | Promise<number>;
  /**
   * Returns up to `limit` entries with ids above `afterId`, oldest first.
   *
   * `evicted: true` MUST be the answer whenever an entry of this stream above `afterId` is gone (evicted or too old),
   * whenever `afterId` is above the newest id, and whenever it belongs to a former stream of this name or to none: a
   * reader must learn of a gap, not skip it. `afterId` 0 asks from the beginning: an absent stream then gives no
   * entries, and one that has lost entries gives `evicted: true`.
   */
  read(stream: string, afterId: number, limit: number): LogRead | Promise<LogRead>;
  /** Starts the life of a stream anew. Returns false, and creates nothing, where the stream is absent. */
  touch(stream: string, ttlMs: number): boolean | Promise<boolean>;
  /** Forgets the stream. Does nothing where it is absent. */
  drop(stream: string): void | Promise<void>;
}

/** Ends a subscription. */
export type Unsubscribe = () => void | Promise<void>;

/**
 * Messages to whoever listens now.
 *
 * Each subscription MUST receive every message that was published after `subscribe` settled exactly once, the
 * publisher's own messages too, and one publisher's messages on one topic in the order of its `publish` calls. Where a
 * driver loses its connection messages may be lost, never repeated: what must survive belongs into the log, with a
 * message as the hint to read it.
 */
export interface PubSub {
  /** Settles when the store has taken the message; `deliver` may run before or after that. */
  publish(topic: string, message: string): void | Promise<void>;
  /**
   * Calls `deliver` for each message until the returned function settles; after that it MUST NOT be called. `deliver`
   * MUST NOT throw; a driver MUST shield other subscriptions from one that does. Subscribing the same function twice
   * makes two subscriptions. Unsubscribing twice does nothing.
   */
  subscribe(topic: string, deliver: (message: string) => void): Unsubscribe | Promise<Unsubscribe>;
}

/** A refusal by a store that is full: which limit, and what to change. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly limit: string;
  readonly fix: string;

  constructor(limit: string, maximum: number, fix: string) {
    super(`The storage is full: ${limit} is ${maximum}. ${fix}`);
    this.limit = limit;
    this.fix = fix;
  }
}
