import { StorageFailure, type StorageFailureReason } from "../../storage/storage.js";

// The part of `node:sqlite` that the driver uses. Declared here, because the oldest supported types of Node do not
// include the module.

/** A column value. */
export type SqlValue = string | number | null | Uint8Array;

export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface SqlStatement {
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
  run(...values: SqlValue[]): { readonly changes: number | bigint };
}

export interface SqlDatabase {
  prepare(sql: string): SqlStatement;
  exec(sql: string): void;
  close(): void;
}

interface NodeSqlite {
  readonly DatabaseSync: new (file: string) => SqlDatabase;
}

/**
 * Returns the module `node:sqlite`. If this runtime, which may be Bun or Deno, lacks the module, throws a failure that
 * names the required versions.
 */
export function nodeSqlite(): NodeSqlite {
  const { process: own } = globalThis as { process?: Partial<NodeJS.Process> };
  // Safe: every release that has the module has the members of this interface.
  const load = own?.getBuiltinModule as ((id: string) => NodeSqlite | undefined) | undefined;
  const found = tryLoad(load);
  if (typeof found?.DatabaseSync === "function") return found;
  const version = own?.versions?.node;
  const here = version === undefined ? "this runtime" : `Node ${version}`;
  throw new StorageFailure(
    "unsupported",
    `sqliteStorage needs the module \`node:sqlite\`, which ${here} does not have.`,
    "Use Node 22.13 or later (from 22.5 on with --experimental-sqlite), or another storage, such as `@parley/redis`.",
  );
}

function tryLoad(load: ((id: string) => NodeSqlite | undefined) | undefined): NodeSqlite | undefined {
  try {
    return load?.("node:sqlite");
  } catch {
    // Some runtimes throw for a module that they do not have.
    return undefined;
  }
}

/**
 * Converts text to a column value. Text with U+0000 becomes a blob, because some versions of Node truncate it on
 * reading.
 */
export function toColumn(text: string): SqlValue {
  return text.includes("\0") ? Buffer.from(text) : text;
}

/** Converts a column value back to text. Reverses `toColumn`. */
export function fromColumn(value: SqlValue | undefined): string {
  if (typeof value === "string") return value;
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.length).toString() : "";
}

/** The end of a lifetime, as stored in a column. */
export function expiryTime(now: number, lifeMs: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(now + lifeMs));
}

/** SQLite's primary result code for a file that another connection has locked. */
export const SQLITE_BUSY = 5;
/** SQLite's primary result code for a file or disk without room. */
export const SQLITE_FULL = 13;

/** For each primary result code of SQLite: the reason, the message and the fix. */
const FAILURES: Readonly<Record<number, readonly [StorageFailureReason, string, string]>> = {
  3: ["read-only", "may not be accessed", "Give this process the right to read and write the file and its folder."],
  [SQLITE_BUSY]: [
    "timeout",
    "is locked by another process",
    "Raise busyTimeoutMs, or stop the program that locks the file, such as a shell or a backup.",
  ],
  6: ["timeout", "is locked by another connection", "Raise busyTimeoutMs, or stop the program that locks the file."],
  8: ["read-only", "is read-only", "Give this process the right to write the file and its folder."],
  10: ["unavailable", "could not be read or written", "Check the disk, and use a local one: SQLite's WAL needs it."],
  11: [
    "corrupt",
    "is damaged",
    "Move it away with its -wal and -shm files and start again, or restore a backup. Sessions and tasks in it are lost.",
  ],
  14: ["unavailable", "cannot be opened", "Create its folder, and give this process the right to write there."],
  26: ["corrupt", "is not a SQLite database, or is damaged", "Choose another file, or restore a backup of this one."],
};

/** The primary SQLite result code of an error of `node:sqlite`. Undefined for other errors. */
export function resultCode(error: unknown): number | undefined {
  const code = typeof error === "object" && error !== null && "errcode" in error ? error.errcode : undefined;
  // The low byte of an extended code is the primary code.
  return typeof code === "number" ? code & 0xff : undefined;
}

/** Converts an error of `node:sqlite` to a failure with a fix. */
export function sqliteFailure(error: unknown, file: string): StorageFailure {
  const [reason, what, fix] = FAILURES[resultCode(error) ?? 0] ?? [
    "unavailable",
    `failed with ${JSON.stringify(error instanceof Error ? error.message : String(error))}`,
    "Check the file and its disk.",
  ];
  return new StorageFailure(reason, `The SQLite file ${file} ${what}.`, fix, { cause: error });
}
