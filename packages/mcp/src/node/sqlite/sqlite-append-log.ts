import type { AppendLog, LogEntry, LogLimits, LogRead } from "../../storage/storage.js";
import type { Database } from "./database.js";
import { expiryTime, fromColumn, type SqlRow, toColumn } from "./node-sqlite.js";

const EVICTED: LogRead = { evicted: true };
/** Maximum number of entries in one read: more than a stream can have. */
const MAX_PAGE = 2 ** 31;
const LIVE = "(stream.expires IS NULL OR stream.expires > ?)";

/** A stream during an append. */
interface Stream {
  readonly id: number;
  /** The highest id of a deleted entry. 0 if none was deleted. */
  lost: number;
  readonly last: number;
  entries: number;
  size: number;
}

/**
 * The append log in a SQLite file. All methods are synchronous.
 *
 * One counter provides the ids of all streams, so that the ids of a stream grow even after it was dropped and created
 * again. An entry never expires later than a newer entry, so the expired entries are always the oldest.
 */
export class SqliteAppendLog implements AppendLog {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepare(database);
    database.onSweep((now, rows) => this.#sweep(now, rows));
  }

  append(name: string, entry: string, limits: LogLimits): number {
    return this.#database.write((now) => {
      const { nextId, add, addStream, setStream } = this.#statements;
      const id = Number(nextId.get()?.["entry"]);
      const expires = expiryTime(now, limits.maxAgeMs);
      const ends = limits.ttlMs === undefined ? null : expiryTime(now, limits.ttlMs);
      const stream = this.#find(name, now);
      if (stream !== undefined) {
        this.#evict(stream, entry.length, limits, now);
        this.#shortenOlder(stream, expires);
        add.run(id, stream.id, toColumn(entry), entry.length, expires);
        setStream.run(stream.lost, id, stream.entries + 1, stream.size + entry.length, ends, stream.id);
      } else {
        const created = Number(addStream.get(name, id, entry.length, ends)?.["id"]);
        add.run(id, created, toColumn(entry), entry.length, expires);
      }
      return id;
    });
  }

  read(name: string, afterId: number, limit: number): LogRead {
    const now = this.#database.now();
    const wanted = Math.min(Math.max(0, limit), MAX_PAGE);
    // The rows begin with the entry `afterId` itself, if it still exists. Its presence proves that `afterId` is a
    // position in this stream.
    const rows = this.#database.all(this.#statements.read, afterId, name, now, wanted + 2);
    const [first] = rows;
    if (first === undefined) return afterId === 0 ? { evicted: false, entries: [] } : EVICTED;
    const isKnown = afterId === Number(first["lost"]) || first["id"] === afterId;
    if (!Number.isSafeInteger(afterId) || !isKnown) return EVICTED;
    const after = rows.filter(({ id }) => id !== null && Number(id) > afterId);
    if (after.some((row) => Number(row["expires"]) <= now)) return EVICTED;
    return { evicted: false, entries: after.slice(0, wanted).map(toEntry) };
  }

  touch(name: string, ttlMs: number): boolean {
    const { touch } = this.#statements;
    return this.#database.write((now) => Number(touch.run(expiryTime(now, ttlMs), name, now).changes) > 0);
  }

  drop(name: string): void {
    this.#database.write(() => {
      const id = this.#statements.find.get(name)?.["id"];
      if (typeof id === "number") this.#remove(id);
    });
  }

  /** Returns the stream if it exists and has not expired. Deletes an expired stream with its entries. */
  #find(name: string, now: number): Stream | undefined {
    const row = this.#statements.find.get(name);
    if (row === undefined) return undefined;
    const ends = row["expires"];
    const id = Number(row["id"]);
    if (typeof ends === "number" && ends <= now) {
      this.#remove(id);
      return undefined;
    }
    const { lost, last, entries, size } = row;
    return { id, lost: Number(lost), last: Number(last), entries: Number(entries), size: Number(size) };
  }

  /** Deletes the oldest entries: the expired ones, and those that must make room for a new entry of `length`. */
  #evict(stream: Stream, length: number, limits: LogLimits, now: number): void {
    while (stream.entries > 0) {
      const oldest = this.#statements.oldest.get(stream.id);
      if (oldest === undefined) return;
      const isOver = stream.entries + 1 > limits.maxEntries || stream.size + length > limits.maxBytes;
      if (!isOver && Number(oldest["expires"]) > now) return;
      this.#statements.removeEntry.run(Number(oldest["id"]));
      stream.lost = Number(oldest["id"]);
      stream.entries--;
      stream.size -= Number(oldest["size"]);
    }
  }

  #shortenOlder(stream: Stream, expires: number): void {
    const newest = this.#statements.expiryOf.get(stream.last)?.["expires"];
    if (typeof newest === "number" && newest > expires) this.#statements.shorten.run(expires, stream.id, expires);
  }

  #remove(stream: number): void {
    this.#statements.removeEntries.run(stream, Number.MAX_SAFE_INTEGER);
    this.#statements.removeStream.run(stream);
  }

  #sweep(now: number, rows: number): number {
    let removed = 0;
    for (const { id } of this.#statements.expired.all(now, rows)) {
      const left = rows - removed;
      if (left <= 0) break;
      const { changes } = this.#statements.removeEntries.run(Number(id), left);
      removed += Number(changes) + 1;
      if (Number(changes) < left) this.#statements.removeStream.run(Number(id));
    }
    return removed;
  }
}

function toEntry(row: SqlRow): LogEntry {
  return { id: Number(row["id"]), entry: fromColumn(row["entry"]) };
}

function prepare(database: Database) {
  return {
    find: database.prepare("SELECT id, lost, last, entries, size, expires FROM stream WHERE name = ?"),
    nextId: database.prepare("UPDATE counter SET entry = entry + 1 RETURNING entry"),
    add: database.prepare("INSERT INTO entry (id, stream, entry, size, expires) VALUES (?, ?, ?, ?, ?)"),
    addStream: database.prepare(
      "INSERT INTO stream (name, lost, last, entries, size, expires) VALUES (?, 0, ?, 1, ?, ?) RETURNING id",
    ),
    setStream: database.prepare(
      "UPDATE stream SET lost = ?, last = ?, entries = ?, size = ?, expires = ? WHERE id = ?",
    ),
    oldest: database.prepare("SELECT id, size, expires FROM entry WHERE stream = ? ORDER BY id LIMIT 1"),
    expiryOf: database.prepare("SELECT expires FROM entry WHERE id = ?"),
    shorten: database.prepare("UPDATE entry SET expires = ? WHERE stream = ? AND expires > ?"),
    // One statement, so that no write of another process comes between the stream and its entries.
    read: database.prepare(
      `SELECT stream.lost, entry.id, entry.entry, entry.expires FROM stream
       LEFT JOIN entry ON entry.stream = stream.id AND entry.id >= ?
       WHERE stream.name = ? AND ${LIVE} ORDER BY entry.id LIMIT ?`,
    ),
    touch: database.prepare(`UPDATE stream SET expires = ? WHERE name = ? AND ${LIVE}`),
    removeEntry: database.prepare("DELETE FROM entry WHERE id = ?"),
    removeEntries: database.prepare("DELETE FROM entry WHERE id IN (SELECT id FROM entry WHERE stream = ? LIMIT ?)"),
    removeStream: database.prepare("DELETE FROM stream WHERE id = ?"),
    expired: database.prepare("SELECT id FROM stream WHERE expires <= ? LIMIT ?"),
  };
}
