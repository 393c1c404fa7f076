import { randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../terminal/usage-error.js";

/** Files of applications hold much else, but no more than this. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Backups that are kept: `.bak` is the newest. */
const BACKUPS = [".bak", ".bak.1", ".bak.2"];

/** A file of an application, as it was read. */
export interface ConfigFile {
  /** Where links lead to. */
  readonly path: string;
  /** Empty if there is no file. */
  readonly text: string;
  readonly exists: boolean;
  /** What it was before its last change by this program. */
  readonly backup: string | undefined;
}

/** Reads a file that may not be there. */
export function readConfigFile(path: string): ConfigFile {
  if (!existsSync(path)) return { path, text: "", exists: false, backup: undefined };
  const real = realpathSync(path);
  const stats = statSync(real);
  if (!stats.isFile() || stats.size > MAX_BYTES)
    throw new UsageError(`${path} is no file of at most ${MAX_BYTES} bytes`, "Name the file of an application.");
  const backup = `${real}${BACKUPS[0]}`;
  const kept = existsSync(backup) ? readFileSync(backup, "utf8") : undefined;
  return { path: real, text: readFileSync(real, "utf8"), exists: true, backup: kept };
}

/** Replaces the file in one step, and keeps what it was beside it. Throws a `UsageError` if somebody changed it meanwhile. */
export function writeConfigFile(file: ConfigFile, text: string): void {
  const { path, exists } = file;
  mkdirSync(dirname(path), { recursive: true });
  // A new one may come to hold secrets.
  const mode = exists ? statSync(path).mode & 0o777 : 0o600;
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: "wx", mode, flush: true });
    // The mode above is cut by the umask.
    chmodSync(temporary, mode);
    const present = existsSync(path) ? readFileSync(path, "utf8") : "";
    if (present !== file.text || existsSync(path) !== exists)
      throw new UsageError(`${path} was changed at the same time`, "Try again.");
    if (exists) keepBackup(path, file.text, mode);
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function keepBackup(path: string, text: string, mode: number): void {
  for (let at = BACKUPS.length - 1; at > 0; at--) {
    const older = `${path}${BACKUPS[at - 1]}`;
    if (existsSync(older)) renameSync(older, `${path}${BACKUPS[at]}`);
  }
  writeFileSync(`${path}${BACKUPS[0]}`, text, { mode });
}
