import { StorageFailure } from "../../storage/storage.js";
import { nodeSqlite, resultCode, SQLITE_BUSY, type SqlDatabase } from "./node-sqlite.js";

/** Settings of a database connection. */
export interface OpenOptions {
  readonly synchronous: "normal" | "full";
  readonly busyTimeoutMs: number;
  readonly maxBytes: number;
}

/**
 * Identifies files of this library, so that databases of other programs are not used by mistake. The bytes are the
 * letters "Prly".
 */
const APPLICATION_ID = 0x50726c79;
/** Size of a page, in bytes: SQLite's own default. */
export const PAGE_BYTES = 4_096;
/**
 * Maximum size in bytes of a file that is checked for damage when it is opened. At this size the check takes about 0.1
 * s. Larger files are not checked.
 */
const MAX_CHECKED_BYTES = 32 * 1024 * 1024;
/** Maximum size of SQLite's log file after a checkpoint, in bytes. */
const MAX_WAL_BYTES = 8 * 1024 * 1024;
/**
 * Maximum number of attempts to switch a file to WAL mode. An attempt fails at once if another process switches the
 * file at the same time.
 */
const MAX_MODE_ATTEMPTS = 50;
/** Delay between two such attempts, in milliseconds. */
const MODE_WAIT_MS = 10;

/**
 * The schema, one step per version: version N of a file has the first N steps. Append only.
 *
 * Values are text, or a blob if the text contains U+0000, because some versions of Node truncate such text on reading.
 * `counter` has one row. It contains the last version, log id and message id, so that no number is used twice, and the
 * highest id of a deleted message (`lost`).
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE value (key TEXT NOT NULL UNIQUE, value BLOB NOT NULL, version INTEGER NOT NULL, expires INTEGER);
   CREATE INDEX value_expires ON value (expires) WHERE expires IS NOT NULL;
   CREATE TABLE stream (
     id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, lost INTEGER NOT NULL, last INTEGER NOT NULL,
     entries INTEGER NOT NULL, size INTEGER NOT NULL, expires INTEGER
   );
   CREATE INDEX stream_expires ON stream (expires) WHERE expires IS NOT NULL;
   CREATE TABLE entry (
     id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, entry BLOB NOT NULL, size INTEGER NOT NULL, expires INTEGER NOT NULL
   );
   CREATE INDEX entry_stream ON entry (stream);
   CREATE TABLE message (id INTEGER PRIMARY KEY, topic BLOB NOT NULL, message BLOB NOT NULL, at INTEGER NOT NULL);
   CREATE TABLE counter (
     version INTEGER NOT NULL, entry INTEGER NOT NULL, message INTEGER NOT NULL, lost INTEGER NOT NULL
   );
   INSERT INTO counter VALUES (0, 0, 0, 0);`,
];

/**
 * Opens a file, creates it if it is absent, and migrates its schema. Throws errors of SQLite, or a `StorageFailure`.
 */
export function openDatabase(file: string, options: OpenOptions): SqlDatabase {
  const { DatabaseSync } = nodeSqlite();
  const bytes = createPrivately(file);
  const database = new DatabaseSync(file);
  try {
    database.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs}`);
    if (bytes > 0) checkFile(database, file, bytes);
    enableWal(database, file);
    // These settings belong to the connection and are not stored in the file.
    database.exec(`PRAGMA synchronous = ${options.synchronous}`);
    database.exec(`PRAGMA max_page_count = ${Math.ceil(options.maxBytes / PAGE_BYTES)}`);
    database.exec(`PRAGMA journal_size_limit = ${MAX_WAL_BYTES}`);
    migrate(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Creates the file for its owner only. SQLite creates its other files with the same mode. Returns the size of the file.
 */
function createPrivately(file: string): number {
  const fs = process.getBuiltinModule("node:fs");
  try {
    const descriptor = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
    const { size } = fs.fstatSync(descriptor);
    fs.closeSync(descriptor);
    return size;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const readOnly = code === "EACCES" || code === "EROFS" || code === "EPERM";
    throw new StorageFailure(
      readOnly ? "read-only" : "unavailable",
      `The SQLite file ${file} cannot be opened for writing (${String(code)}).`,
      readOnly
        ? "Give this process the right to write the file and its folder."
        : "Choose a file in an existing folder, on a disk with free space.",
      { cause: error },
    );
  }
}

function checkFile(database: SqlDatabase, file: string, bytes: number): void {
  if (bytes > MAX_CHECKED_BYTES) return;
  const found = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (found === "ok") return;
  throw new StorageFailure(
    "corrupt",
    `The SQLite file ${file} is damaged: ${JSON.stringify(found)}.`,
    "Move it away with its -wal and -shm files and start again, or restore a backup.",
  );
}

function enableWal(database: SqlDatabase, file: string): void {
  const mode = database.prepare("PRAGMA journal_mode = wal");
  for (let tries = 1; ; tries++) {
    try {
      if (mode.get()?.["journal_mode"] === "wal") return;
      break;
    } catch (error) {
      if (tries === MAX_MODE_ATTEMPTS || resultCode(error) !== SQLITE_BUSY) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, MODE_WAIT_MS);
    }
  }
  throw new StorageFailure(
    "unsupported",
    `The SQLite file ${file} cannot be shared: its file system has no shared memory.`,
    "Put it on a local disk, not on a network.",
  );
}

function migrate(database: SqlDatabase, file: string): void {
  const pragma = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  const check = () => {
    const version = pragma("user_version");
    const foreign = pragma("application_id") !== APPLICATION_ID;
    const tables = Number(database.prepare("SELECT count(*) AS count FROM sqlite_schema").get()?.["count"]);
    if (foreign && tables > 0) {
      throw new StorageFailure(
        "unsupported",
        `The SQLite file ${file} belongs to another program.`,
        "Choose another file for sqliteStorage.",
      );
    }
    if (version > MIGRATIONS.length) {
      throw new StorageFailure(
        "unsupported",
        `The SQLite file ${file} was written by a newer version: its schema has version ${version}, this version supports ${MIGRATIONS.length}.`,
        "Update @parley/mcp, or choose another file.",
      );
    }
    return version;
  };
  if (check() === MIGRATIONS.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have migrated the file meanwhile.
    for (const step of MIGRATIONS.slice(check())) database.exec(step);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`);
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** Rolls back a failed transaction. Some failures have already ended the transaction. */
export function rollBack(database: SqlDatabase): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // There is no transaction any more.
  }
}
