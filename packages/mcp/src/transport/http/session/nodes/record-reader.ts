import { guarded, isThenable, type MaybePromise } from "../../../../encoding/maybe-promise.js";
import { DueList } from "../../../../platform/due-list.js";
import type { Platform } from "../../../../platform/platform.js";
import type { KeyValue, Versioned } from "../../../../storage/storage.js";

/** A record in the memory of a node. */
interface CachedRecord {
  readonly stored: Versioned;
  /** Time when the storage last confirmed the record. */
  confirmedAt: number;
}

/** Time that a request of a known session waits for the storage. After that, the cached record is used. */
const PATIENCE_MS = 500;
/** Maximum age of a cached record that a node uses while the storage does not answer. */
const MAX_CACHED_MS = 30_000;
/**
 * Time for which the storage counts as down after it failed to answer. Meanwhile, requests use cached records at once.
 */
const DOWN_MS = 500;

/**
 * Reads the records of sessions. While the storage does not answer, a node uses its cached records for a limited time,
 * and only the first request waits. A request of an unknown session fails with the error of the storage.
 */
export class RecordReader {
  readonly #platform: Platform;
  readonly #kv: KeyValue;
  readonly #waiting: DueList<() => void>;
  #downUntil = Number.NEGATIVE_INFINITY;

  constructor(platform: Platform, kv: KeyValue) {
    this.#platform = platform;
    this.#kv = kv;
    this.#waiting = new DueList(platform, PATIENCE_MS, (giveUp) => giveUp());
  }

  read(key: string, known: CachedRecord | undefined): MaybePromise<Versioned | undefined> {
    const reading = this.#kv.get(key);
    if (!isThenable(reading)) return reading;
    if (known === undefined) return reading;
    return this.#readOrCached(Promise.resolve(reading), known);
  }

  close(): void {
    this.#waiting.close();
  }

  #readOrCached(reading: Promise<Versioned | undefined>, known: CachedRecord): Promise<Versioned | undefined> {
    const platform = this.#platform;
    return new Promise((resolve, reject) => {
      const useCached = () => {
        const now = platform.monotonic();
        this.#downUntil = now + DOWN_MS;
        if (now - known.confirmedAt > MAX_CACHED_MS) return false;
        resolve(known.stored);
        return true;
      };
      if (platform.monotonic() < this.#downUntil) useCached();
      else this.#waiting.touch(useCached);
      reading.then(
        (stored) => {
          this.#waiting.drop(useCached);
          this.#downUntil = Number.NEGATIVE_INFINITY;
          known.confirmedAt = platform.monotonic();
          resolve(stored);
        },
        (error) => {
          this.#waiting.drop(useCached);
          if (!useCached()) reject(error);
        },
      );
    });
  }
}

/** Reads the sessions of a node again. */
interface SessionReader<S> {
  /** Reads a session again after messages about it may have been lost. Rejects if the storage does not answer. */
  resync(session: S): Promise<void>;
  /** True if this node still serves the session. */
  serves(session: S): boolean;
  failed(error: unknown): void;
}

/** Time to wait before reading a session again after a failure. */
const RETRY_MS = 1000;

/**
 * Sessions that other nodes may have changed. Reads each session again, and retries while the storage does not answer.
 */
export class StaleSessions<S> {
  readonly #reader: SessionReader<S>;
  readonly #due: DueList<S>;

  constructor(platform: Platform, reader: SessionReader<S>) {
    this.#reader = reader;
    this.#due = new DueList(platform, RETRY_MS, (session) => this.read(session));
  }

  read(session: S, read = () => this.#reader.resync(session)): void {
    guarded(read, (error) => {
      this.#reader.failed(error);
      if (this.#reader.serves(session)) this.#due.touch(session);
    });
  }

  drop(session: S): void {
    this.#due.drop(session);
  }

  close(): void {
    this.#due.close();
  }
}
