import { platform } from "#platform";
import { withDefaults } from "../../encoding/with-defaults.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { DeleteOptions, KeyValue, SetOptions, Storage, Versioned } from "../../storage/storage.js";
import { Database } from "./database.js";
import { expiryTime, fromColumn, nodeSqlite, type SqlStatement, toColumn } from "./node-sqlite.js";
import type { OpenOptions } from "./open-database.js";
import { SqliteAppendLog } from "./sqlite-append-log.js";
import { SqlitePubSub } from "./sqlite-pub-sub.js";

/** Location, durability and limits of a SQLite storage. */
export interface SqliteStorageOptions {
  /**
   * Path of the file. It is created with mode 0600 if it is absent. Its folder must exist, on a local disk. SQLite
   * creates a `-wal` and a `-shm` file next to it.
   */
  readonly file: string;
  /**
   * Durability of a write. With `"normal"`, a write survives any end of the process. A power failure may lose the last
   * writes, but does not damage the file. With `"full"`, a write also survives a power failure, but waits for the disk.
   * Default: `"normal"`.
   */
  readonly synchronous?: "normal" | "full" | undefined;
  /** Maximum size of the file, in bytes. Beyond it, writes throw a `StorageError`. Default: 1 GiB. Minimum: 64 KiB. */
  readonly maxBytes?: number | undefined;
  /**
   * Maximum time that a write waits for writes of other processes, in milliseconds. After it, the write throws a
   * `StorageFailure`. The wait blocks the whole process, so choose a short time. Default: 2 s.
   */
  readonly busyTimeoutMs?: number | undefined;
  /**
   * Clock for lifetimes, in milliseconds since the epoch. All processes that share the file need the same clock.
   * Default: the system clock.
   */
  readonly clock?: { now(): number } | undefined;
}

/** A storage in one file. Every method of its parts is synchronous. */
export interface SqliteStorage extends Storage {
  /** Values by key, with versions and lifetimes. */
  readonly kv: SqliteKeyValue;
  /** Streams of entries in order, with limits on number, size and age. */
  readonly log: SqliteAppendLog;
  /** Messages between all processes that use the file. */
  readonly pubsub: SqlitePubSub;
  /** Ends all subscriptions and closes the file. Later calls throw. */
  close(): void;
}

const DEFAULTS: OpenOptions = { synchronous: "normal", maxBytes: 1024 * 1024 * 1024, busyTimeoutMs: 2_000 };
const MIN_BYTES = 64 * 1024;
const MAX_BUSY_MS = 60_000;

/**
 * Opens a storage in a file with `node:sqlite`. Its content survives a restart, and several processes of one machine
 * can share it.
 *
 * Throws a `StorageFailure` if the runtime has no SQLite, or if the file cannot be opened, is damaged, belongs to another
 * program or was written by a newer version.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/storage.md | Storage}
 */
export function sqliteStorage(options: SqliteStorageOptions): SqliteStorage {
  checkOptions("sqliteStorage", options, "file synchronous maxBytes busyTimeoutMs clock");
  const { file, clock, ...given } = options;
  const chosen = withDefaults(DEFAULTS, given);
  checkValues(file, chosen);
  // Check for `node:sqlite` first, because a runtime without it may lack the other modules too.
  nodeSqlite();
  const path = process.getBuiltinModule("node:path").resolve(file);
  const database = new Database(path, chosen, () => (clock ?? platform).now());
  const kv = new SqliteKeyValue(database);
  const log = new SqliteAppendLog(database);
  const pubsub = new SqlitePubSub(database, platform);
  return {
    kv,
    log,
    pubsub,
    close() {
      pubsub.close();
      database.close();
    },
  };
}

function checkValues(file: unknown, { synchronous, maxBytes, busyTimeoutMs }: OpenOptions): void {
  if (typeof file !== "string" || file === "" || file === ":memory:" || file.includes("\0")) {
    throw wrong(
      `\`file\` is ${JSON.stringify(file)}, not the path of a file`,
      "Pass the path of a file, or use memoryStorage.",
    );
  }
  if (synchronous !== "normal" && synchronous !== "full") {
    throw wrong(`\`synchronous\` is ${JSON.stringify(synchronous)}`, 'Use "normal" or "full".');
  }
  if (!(maxBytes >= MIN_BYTES) || maxBytes > Number.MAX_SAFE_INTEGER) {
    throw wrong(`\`maxBytes\` is ${maxBytes}`, `Use a number of bytes from ${MIN_BYTES} on.`);
  }
  if (!Number.isInteger(busyTimeoutMs) || busyTimeoutMs < 0 || busyTimeoutMs > MAX_BUSY_MS) {
    throw wrong(`\`busyTimeoutMs\` is ${busyTimeoutMs}`, `Use whole milliseconds from 0 to ${MAX_BUSY_MS}.`);
  }
}

function wrong(what: string, fix: string): McpError {
  return new McpError("invalid_definition", `sqliteStorage: ${what}`, { fix });
}

const LIVE = "(expires IS NULL OR expires > ?)";

/** The key-value store in a SQLite file. All methods are synchronous. */
export class SqliteKeyValue implements KeyValue {
  readonly #database: Database;
  readonly #get: SqlStatement;
  readonly #version: SqlStatement;
  readonly #nextVersion: SqlStatement;
  readonly #put: SqlStatement;
  readonly #delete: SqlStatement;
  readonly #touch: SqlStatement;

  constructor(database: Database) {
    this.#database = database;
    this.#get = database.prepare(`SELECT value, version FROM value WHERE key = ? AND ${LIVE}`);
    this.#version = database.prepare(`SELECT version FROM value WHERE key = ? AND ${LIVE}`);
    // One counter for all keys, so that no version ever repeats, even after a deletion.
    this.#nextVersion = database.prepare("UPDATE counter SET version = version + 1 RETURNING version");
    this.#put = database.prepare(
      `INSERT INTO value (key, value, version, expires) VALUES (?, ?, ?, ?) ON CONFLICT (key)
       DO UPDATE SET value = excluded.value, version = excluded.version, expires = excluded.expires`,
    );
    this.#delete = database.prepare("DELETE FROM value WHERE key = ?");
    this.#touch = database.prepare(`UPDATE value SET expires = ? WHERE key = ? AND ${LIVE}`);
    const sweep = database.prepare(
      "DELETE FROM value WHERE rowid IN (SELECT rowid FROM value WHERE expires <= ? LIMIT ?)",
    );
    database.onSweep((now, rows) => Number(sweep.run(now, rows).changes));
  }

  get(key: string): Versioned | undefined {
    const row = this.#database.get(this.#get, key, this.#database.now());
    return row === undefined ? undefined : { value: fromColumn(row["value"]), version: Number(row["version"]) };
  }

  set(key: string, value: string, options: SetOptions = {}): number | undefined {
    const { ifVersion, ttlMs } = options;
    return this.#database.write((now) => {
      if (ifVersion !== undefined && ifVersion !== this.#versionOf(key, now)) return undefined;
      const version = Number(this.#nextVersion.get()?.["version"]);
      this.#put.run(key, toColumn(value), version, ttlMs === undefined ? null : expiryTime(now, ttlMs));
      return version;
    });
  }

  delete(key: string, options: DeleteOptions = {}): boolean {
    return this.#database.write((now) => {
      const version = this.#versionOf(key, now);
      if (version === 0 || (options.ifVersion !== undefined && options.ifVersion !== version)) return false;
      this.#delete.run(key);
      return true;
    });
  }

  touch(key: string, ttlMs: number): boolean {
    return this.#database.write((now) => Number(this.#touch.run(expiryTime(now, ttlMs), key, now).changes) > 0);
  }

  /** The version of a key within a write. 0 if the key is absent. */
  #versionOf(key: string, now: number): number {
    return Number(this.#version.get(key, now)?.["version"] ?? 0);
  }
}
