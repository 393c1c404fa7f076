import { StorageFailure, type StorageFailureReason } from "../../storage/storage.js";

/** SQLite's primary result code for a file that another connection has locked. */
export const SQLITE_BUSY = 5;
/** SQLite's primary result code for a file or disk without room. */
export const SQLITE_FULL = 13;

/** SQLite's primary result codes: why, what happened, what to do. */
const FAILURES: Readonly<Record<number, readonly [StorageFailureReason, string, string]>> = {
  3: ["read-only", "may not be accessed", "Give this process the right to read and write the file and its folder."],
  [SQLITE_BUSY]: [
    "timeout",
    "is locked by another process",
    "Raise busyTimeoutMs, or end what holds the file locked, such as an open shell or a backup.",
  ],
  6: ["timeout", "is locked by another connection", "Raise busyTimeoutMs, or end what holds the file locked."],
  8: ["read-only", "is read-only", "Give this process the right to write the file and its folder."],
  10: ["unavailable", "could not be read or written", "Check the disk, and use a local one: SQLite's WAL needs it."],
  11: [
    "corrupt",
    "is damaged",
    "Move it away with its -wal and -shm files and start again, or restore a backup. Sessions and tasks in it are lost.",
  ],
  14: ["unavailable", "cannot be opened", "Create its folder, and give this process the right to write there."],
  26: ["corrupt", "is no SQLite database, or is damaged", "Choose another file, or restore a backup of this one."],
};

/** SQLite's primary result code of what `node:sqlite` threw; undefined for another kind of error. */
export function resultCode(error: unknown): number | undefined {
  const code = typeof error === "object" && error !== null && "errcode" in error ? error.errcode : undefined;
  // An extended code holds the primary one in its low byte.
  return typeof code === "number" ? code & 0xff : undefined;
}

/** What `node:sqlite` threw, as a failure that says what to do. */
export function sqliteFailure(error: unknown, file: string): StorageFailure {
  const [reason, what, fix] = FAILURES[resultCode(error) ?? 0] ?? [
    "unavailable",
    `failed with ${JSON.stringify(error instanceof Error ? error.message : String(error))}`,
    "Check the file and its disk.",
  ];
  return new StorageFailure(reason, `The SQLite file ${file} ${what}.`, fix, { cause: error });
}
