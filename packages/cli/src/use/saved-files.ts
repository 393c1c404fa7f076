import { closeSync, mkdirSync, mkdtempSync, openSync, rmdirSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, relative, resolve, sep } from "node:path";
import { bytesOf, McpError } from "@parley/mcp";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";

/** File extensions by media type. Other media types get `bin`. */
const ENDINGS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "image/avif": "avif",
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "audio/flac": "flac",
  "audio/mp4": "m4a",
  "video/mp4": "mp4",
  "application/pdf": "pdf",
  "application/json": "json",
  "application/zip": "zip",
  "application/gzip": "gz",
  "text/plain": "txt",
  "text/html": "html",
  "text/markdown": "md",
  "text/csv": "csv",
};
const MAX_ATTEMPTS = 1_000;

/** A saved file. */
export interface SavedFile {
  readonly path: string;
  readonly mimeType: string;
  readonly bytes: number;
}

/** Options of a saver: `--output` names a file or a folder, `--force` allows replacing a file. */
export interface SaveOptions {
  readonly output?: string | undefined;
  readonly force?: boolean;
}

/**
 * Saves binary content. Never replaces an existing file without `force`. Derived file names consist of letters, digits
 * and hyphens only, whatever the server sends.
 */
export class FileSaver {
  readonly #io: Io;
  readonly #options: SaveOptions;
  readonly #base: string;
  #folder: string | undefined;
  #saved = 0;

  /** `base` is the name of the tool, prompt or resource, from which file names are derived. */
  constructor(io: Io, base: string, options: SaveOptions = {}) {
    this.#io = io;
    this.#base = safeName(base);
    this.#options = options;
  }

  /** Saves one block. Throws an `McpError` if the data is not Base64, and a `UsageError` if the file exists. */
  save(block: { data: string } | { blob: string }, mimeType: string): SavedFile {
    const bytes = decoded(block);
    const path = this.#write(bytes, Object.hasOwn(ENDINGS, mimeType) ? (ENDINGS[mimeType] ?? "bin") : "bin");
    this.#saved++;
    return { path: this.#shortest(path), mimeType, bytes: bytes.length };
  }

  #write(bytes: Uint8Array, ending: string): string {
    const { output, force = false } = this.#options;
    if (output === undefined || isFolder(resolve(this.#io.cwd, output), output)) {
      this.#folder ??= output === undefined ? writableFolder(this.#io.cwd) : madeFolder(resolve(this.#io.cwd, output));
      return writeFresh(this.#folder, this.#base, ending, bytes);
    }
    const path = resolve(this.#io.cwd, output);
    const own = extname(path);
    // The first block gets the exact name. Further blocks get the name with a number.
    const wanted = this.#saved === 0 ? path : `${path.slice(0, path.length - own.length)}-${this.#saved + 1}${own}`;
    if (writeOnce(wanted, bytes, force)) return wanted;
    throw new UsageError(`${output} already exists`, "Name another file with --output, or add --force to replace it.");
  }

  #shortest(path: string): string {
    const near = relative(this.#io.cwd, path);
    return near === "" || near.startsWith("..") ? path : near;
  }
}

/** Derives a file name that is valid on every system. */
export function safeName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9]+/g, "-").slice(0, 60);
  const trimmed = plain.replace(/^-+|-+$/g, "");
  // Windows reserves the names of devices, such as `con`.
  return trimmed === "" || /^(?:con|prn|aux|nul|com\d|lpt\d)$/i.test(trimmed) ? `file${trimmed}` : trimmed;
}

function decoded(block: { data: string } | { blob: string }): Uint8Array {
  try {
    return bytesOf(block);
  } catch (cause) {
    throw new McpError("invalid_response", "the server sent data that is not valid Base64", { cause });
  }
}

function isFolder(path: string, written: string): boolean {
  return (
    written.endsWith("/") || written.endsWith(sep) || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  );
}

function madeFolder(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}

/** Returns the current folder, or a new temporary folder if the current one is not writable. */
function writableFolder(cwd: string): string {
  try {
    // Permissions do not reveal a read-only file system, so try to write.
    const probe = mkdtempSync(join(cwd, ".parley-"));
    rmdirSync(probe);
    return cwd;
  } catch {
    return mkdtempSync(join(tmpdir(), "parley-"));
  }
}

function writeFresh(folder: string, base: string, ending: string, bytes: Uint8Array): string {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const path = join(folder, `${base}${attempt === 1 ? "" : `-${attempt}`}.${ending}`);
    if (writeOnce(path, bytes, false)) return path;
  }
  throw new UsageError(
    `${folder} already has ${MAX_ATTEMPTS} files of this name`,
    "Name another folder with --output.",
  );
}

/**
 * Writes a new file. If `replace` is true, overwrites an existing file. Returns false if the file exists and `replace`
 * is false.
 */
function writeOnce(path: string, bytes: Uint8Array, replace: boolean): boolean {
  let file: number;
  try {
    // `x` fails on existing files and links instead of following them.
    file = openSync(path, replace ? "w" : "wx", 0o644);
  } catch (reason) {
    const { code, message } = reason as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    throw new UsageError(`the file cannot be written: ${message}`, "Name another file or folder with --output.");
  }
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  } finally {
    closeSync(file);
  }
  return true;
}
