import type { DeleteOptions, KeyValue, SetOptions, Versioned } from "../../storage/storage.js";
import { expiryTime, fromColumn, toColumn } from "./column.js";
import type { Database } from "./database.js";
import type { SqlStatement } from "./node-sqlite.js";

const LIVE = "(expires IS NULL OR expires > ?)";

/** The key-value store in a SQLite file. Synchronous. */
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
    // One counter for all keys, so that no version ever repeats, whatever was deleted.
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

  /** 0 for an absent key. Within a write. */
  #versionOf(key: string, now: number): number {
    return Number(this.#version.get(key, now)?.["version"] ?? 0);
  }
}
