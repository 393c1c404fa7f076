import { closeSync, mkdirSync, mkdtempSync, openSync, rmdirSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, relative, resolve, sep } from "node:path";
import { bytesOf, McpError } from "@parley/mcp";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";

/** Endings of files by their media type; anything else is `bin`. */
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

/** A file that was written. */
export interface SavedFile {
  readonly path: string;
  readonly mimeType: string;
  readonly bytes: number;
}

/** Where files go: `--output` names a file or a folder, `--force` lets it be replaced. */
export interface SaveOptions {
  readonly output?: string | undefined;
  readonly force?: boolean;
}

/**
 * Saves what is not text. Files are new: one that exists is never replaced without `force`, and their names are made of letters,
 * digits and hyphens, whatever the server says.
 */
export class FileSaver {
  readonly #io: Io;
  readonly #options: SaveOptions;
  readonly #base: string;
  #folder: string | undefined;
  #saved = 0;

  /** `base` is what the files are named for: a tool, a resource. */
  constructor(io: Io, base: string, options: SaveOptions = {}) {
    this.#io = io;
    this.#base = safeName(base);
    this.#options = options;
  }

  /** Writes one block. Throws an `McpError` for bytes that are not Base64, and a `UsageError` for a file that exists. */
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
    // The first block has the name that was asked for; further ones are counted.
    const wanted = this.#saved === 0 ? path : `${path.slice(0, path.length - own.length)}-${this.#saved + 1}${own}`;
    if (writeOnce(wanted, bytes, force)) return wanted;
    throw new UsageError(`${output} exists`, "Name another file by --output, or add --force to replace it.");
  }

  #shortest(path: string): string {
    const near = relative(this.#io.cwd, path);
    return near === "" || near.startsWith("..") ? path : near;
  }
}

/** A name that is a name on every system, made of what a server calls something. */
export function safeName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9]+/g, "-").slice(0, 60);
  const trimmed = plain.replace(/^-+|-+$/g, "");
  // Devices of Windows are no names for files.
  return trimmed === "" || /^(?:con|prn|aux|nul|com\d|lpt\d)$/i.test(trimmed) ? `file${trimmed}` : trimmed;
}

function decoded(block: { data: string } | { blob: string }): Uint8Array {
  try {
    return bytesOf(block);
  } catch (cause) {
    throw new McpError("invalid_response", "the server sent bytes that are not Base64", { cause });
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

/** The current folder, or a new one for temporary files where it cannot be written to. */
function writableFolder(cwd: string): string {
  try {
    // The only sure sign: rights alone say nothing about a file system that is mounted for reading.
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
  throw new UsageError(`${folder} has ${MAX_ATTEMPTS} files of this name`, "Name another folder by --output.");
}

/** False if the file exists and must stay. */
function writeOnce(path: string, bytes: Uint8Array, replace: boolean): boolean {
  let file: number;
  try {
    // With `x` neither a file nor a link that stands there is followed.
    file = openSync(path, replace ? "w" : "wx", 0o644);
  } catch (reason) {
    const { code, message } = reason as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    throw new UsageError(`the file cannot be written: ${message}`, "Name a file or a folder by --output.");
  }
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  } finally {
    closeSync(file);
  }
  return true;
}
