import { guarded, isThenable, type MaybePromise } from "../../../../encoding/maybe-promise.js";
import { DueList } from "../../../../platform/due-list.js";
import type { Platform } from "../../../../platform/platform.js";
import type { KeyValue, Versioned } from "../../../../storage/storage.js";

/** What a node remembers of a record. */
interface Remembered {
  readonly stored: Versioned;
  /** When the storage last confirmed it. */
  confirmedAt: number;
}

/** How long a request of a known session waits for the storage. */
const PATIENCE_MS = 500;
/** How long a node serves sessions that it knows while the storage does not answer. */
const REMEMBERED_MS = 30_000;
/** How long the storage counts as out of order after it has failed to answer. */
const DOWN_MS = 500;

/**
 * Reads the records of sessions. While the storage does not answer, a node goes on with the sessions that it knows, for a
 * bounded time and without waiting each time; a request of an unknown session fails with the error of the storage.
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

  read(key: string, known: Remembered | undefined): MaybePromise<Versioned | undefined> {
    const reading = this.#kv.get(key);
    if (!isThenable(reading)) return reading;
    if (known === undefined) return reading;
    return this.#patiently(Promise.resolve(reading), known);
  }

  close(): void {
    this.#waiting.close();
  }

  #patiently(reading: Promise<Versioned | undefined>, known: Remembered): Promise<Versioned | undefined> {
    const platform = this.#platform;
    return new Promise((resolve, reject) => {
      const remember = () => {
        const now = platform.monotonic();
        this.#downUntil = now + DOWN_MS;
        if (now - known.confirmedAt > REMEMBERED_MS) return false;
        resolve(known.stored);
        return true;
      };
      if (platform.monotonic() < this.#downUntil) remember();
      else this.#waiting.touch(remember);
      reading.then(
        (stored) => {
          this.#waiting.drop(remember);
          this.#downUntil = Number.NEGATIVE_INFINITY;
          known.confirmedAt = platform.monotonic();
          resolve(stored);
        },
        (error) => {
          this.#waiting.drop(remember);
          if (!remember()) reject(error);
        },
      );
    });
  }
}

/** What the sessions of a node are read by. */
interface SessionReader<S> {
  /** Reads a session of which messages may have been lost; rejects if the storage does not answer. */
  missed(session: S): Promise<void>;
  /** Whether this node still serves it. */
  serves(session: S): boolean;
  failed(error: unknown): void;
}

/** How long to wait before a session is read again that could not be read. */
const RETRY_MS = 1000;

/** Sessions that other nodes may have changed: each is read anew, again and again while the storage does not answer. */
export class UnreadSessions<S> {
  readonly #reader: SessionReader<S>;
  readonly #due: DueList<S>;

  constructor(platform: Platform, reader: SessionReader<S>) {
    this.#reader = reader;
    this.#due = new DueList(platform, RETRY_MS, (session) => this.read(session));
  }

  read(session: S, read = () => this.#reader.missed(session)): void {
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
