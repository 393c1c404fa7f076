import { createHash, randomUUID } from "node:crypto";
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
import { basename, dirname, join } from "node:path";
import { UsageError } from "../terminal/usage-error.js";

/** Files of applications hold much else, but no more than this. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Backups that are kept: `.bak` is the newest. */
const BACKUPS = [".bak", ".bak.1", ".bak.2"];

/** A file of an application, as it was read. */
export interface ConfigFile {
  /** Where links lead to. */
  readonly path: string;
  /** The path of the backup, without its ending (`.bak` and the like). */
  readonly backups: string;
  /** Empty if there is no file. */
  readonly text: string;
  readonly exists: boolean;
  /** What it was before its last change by this program. */
  readonly backup: string | undefined;
}

/** Reads a file that may not be there. Its backups are beside it, unless another folder is named for them. */
export function readConfigFile(path: string, backupFolder?: string): ConfigFile {
  const real = existsSync(path) ? realpathSync(path) : path;
  const backups = backupFolder === undefined ? real : join(backupFolder, `${digest(real)}-${basename(real)}`);
  if (!existsSync(path)) return { path, backups, text: "", exists: false, backup: undefined };
  const stats = statSync(real);
  if (!stats.isFile() || stats.size > MAX_BYTES)
    throw new UsageError(`${path} is no file of at most ${MAX_BYTES} bytes`, "Name the file of an application.");
  const backup = `${backups}${BACKUPS[0]}`;
  const kept = existsSync(backup) ? readFileSync(backup, "utf8") : undefined;
  return { path: real, backups, text: readFileSync(real, "utf8"), exists: true, backup: kept };
}

/** Keeps the backups of two files of the same name apart. */
function digest(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 12);
}

/**
 * Replaces the file in one step, or removes it where `text` is undefined, and keeps what it was as a backup. Throws a `UsageError` if
 * it was changed meanwhile.
 */
export function writeConfigFile(file: ConfigFile, text: string | undefined): void {
  const { path, exists } = file;
  mkdirSync(dirname(path), { recursive: true });
  // A new one may come to hold secrets.
  const mode = exists ? statSync(path).mode & 0o777 : 0o600;
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    writeFileSync(temporary, text ?? "", { flag: "wx", mode, flush: true });
    // The mode above is cut by the umask.
    chmodSync(temporary, mode);
    const present = existsSync(path) ? readFileSync(path, "utf8") : "";
    if (present !== file.text || existsSync(path) !== exists)
      throw new UsageError(`${path} was changed at the same time`, "Try again.");
    if (exists) keepBackup(file, mode);
    if (text === undefined) rmSync(path);
    else renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function keepBackup({ path, backups, text }: ConfigFile, mode: number): void {
  if (backups !== path) mkdirSync(dirname(backups), { recursive: true, mode: 0o700 });
  for (let at = BACKUPS.length - 1; at > 0; at--) {
    const older = `${backups}${BACKUPS[at - 1]}`;
    if (existsSync(older)) renameSync(older, `${backups}${BACKUPS[at]}`);
  }
  writeFileSync(`${backups}${BACKUPS[0]}`, text, { mode });
}
