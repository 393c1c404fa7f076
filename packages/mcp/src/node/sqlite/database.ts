import { StorageError, StorageFailure } from "../../storage/storage.js";
import {
  resultCode,
  SQLITE_FULL,
  type SqlDatabase,
  type SqlRow,
  type SqlStatement,
  type SqlValue,
  sqliteFailure,
} from "./node-sqlite.js";
import { type OpenOptions, openDatabase, PAGE_BYTES, rollBack } from "./open-database.js";

/**
 * Every 32nd write also deletes expired rows, up to `SWEEP_ROWS` of each kind. That is more than 32 writes can add, so
 * expired rows do not accumulate.
 */
const SWEEP_EVERY = 32;
const SWEEP_ROWS = 128;
/** Maximum number of deletion rounds for a write to a full file. After that, the write is rejected. */
const SWEEP_STEPS_WHEN_FULL = 64;

/**
 * One connection to a file. All methods are synchronous, and every error is a `StorageFailure` or a `StorageError`.
 */
export class Database {
  readonly file: string;
  readonly #options: OpenOptions;
  readonly #now: () => number;
  readonly #sweeps: ((now: number, rows: number) => number)[] = [];
  #database: SqlDatabase | undefined;
  readonly #begin: SqlStatement;
  readonly #commit: SqlStatement;
  readonly #dataVersion: SqlStatement;
  #writes = 0;
  #isClosed = false;

  constructor(file: string, options: OpenOptions, now: () => number) {
    this.file = file;
    this.#options = options;
    this.#now = now;
    this.#database = this.#guard(() => openDatabase(file, options));
    this.#begin = this.prepare("BEGIN IMMEDIATE");
    this.#commit = this.prepare("COMMIT");
    this.#dataVersion = this.prepare("PRAGMA data_version");
  }

  /** The current time in whole milliseconds, as stored in the columns. */
  now(): number {
    return Math.floor(this.#now());
  }

  prepare(sql: string): SqlStatement {
    return this.#guard(() => this.#opened().prepare(sql));
  }

  /** Registers a function that deletes up to `rows` expired rows within a write, and returns their number. */
  onSweep(sweep: (now: number, rows: number) => number): void {
    this.#sweeps.push(sweep);
  }

  get(statement: SqlStatement, ...values: SqlValue[]): SqlRow | undefined {
    return this.#guard(() => statement.get(...values));
  }

  all(statement: SqlStatement, ...values: SqlValue[]): SqlRow[] {
    return this.#guard(() => statement.all(...values));
  }

  /**
   * Runs `run` in an immediate transaction, so that no other connection can write at the same time. If the file is
   * full, deletes expired rows and tries again.
   */
  write<T>(run: (now: number) => T): T {
    const now = this.now();
    const sweeping = ++this.#writes % SWEEP_EVERY === 0;
    try {
      return this.#transaction(() => {
        if (sweeping) this.#sweep(now);
        return run(now);
      });
    } catch (error) {
      if (resultCode(error) !== SQLITE_FULL) throw this.#failure(error);
    }
    return this.#guard(() => this.#writeWhenFull(run, now));
  }

  /**
   * Deletes expired rows in rounds and tries the write after each round. Later writes delete the remaining expired
   * rows.
   */
  #writeWhenFull<T>(run: (now: number) => T, now: number): T {
    for (let step = 1; ; step++) {
      const removed = this.#transaction(() => this.#sweep(now));
      try {
        return this.#transaction(() => run(now));
      } catch (error) {
        if (removed === 0 || step === SWEEP_STEPS_WHEN_FULL || resultCode(error) !== SQLITE_FULL) throw error;
      }
    }
  }

  /** A value that changes whenever another connection has written. */
  dataVersion(): SqlValue | undefined {
    return this.get(this.#dataVersion)?.["data_version"];
  }

  close(): void {
    const database = this.#database;
    this.#database = undefined;
    this.#isClosed = true;
    if (database !== undefined) this.#guard(() => database.close());
  }

  #transaction<T>(run: () => T): T {
    const database = this.#opened();
    this.#begin.run();
    try {
      const result = run();
      this.#commit.run();
      return result;
    } catch (error) {
      rollBack(database);
      throw error;
    }
  }

  #sweep(now: number): number {
    return this.#sweeps.reduce((removed, sweep) => removed + sweep(now, SWEEP_ROWS), 0);
  }

  #opened(): SqlDatabase {
    if (this.#database === undefined) throw this.#closedFailure();
    return this.#database;
  }

  #closedFailure(): StorageFailure {
    return new StorageFailure(
      "unavailable",
      `The SQLite storage ${this.file} is closed.`,
      "Close a storage after the servers that use it.",
    );
  }

  #guard<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): Error {
    if (error instanceof StorageFailure || error instanceof StorageError) return error;
    const code = resultCode(error);
    if (code === SQLITE_FULL) return this.#fullError();
    return code === undefined && this.#isClosed ? this.#closedFailure() : sqliteFailure(error, this.file);
  }

  /**
   * SQLite uses the same result code for a file at its size limit and for a full disk. The size of the file decides
   * which of the two is reported.
   */
  #fullError(): StorageError {
    const { maxBytes } = this.#options;
    const used = this.#bytes();
    if (used * 1.1 >= maxBytes) {
      return new StorageError(
        "maxBytes",
        maxBytes,
        "Raise maxBytes of sqliteStorage, or store less or for a shorter time.",
      );
    }
    return new StorageError(
      "diskSpace",
      used,
      `Free space on the disk of ${this.file}. The number is the size of that file; nothing was changed.`,
    );
  }

  /** Size of the file in bytes. 0 if the file could not be opened. */
  #bytes(): number {
    return Number(this.#database?.prepare("PRAGMA page_count").get()?.["page_count"] ?? 0) * PAGE_BYTES;
  }
}
