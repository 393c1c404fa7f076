import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Files } from "../../platform/platform.js";
import { isReservedName } from "./config-dialect.js";

/**
 * Maximum size of a file that a configuration refers to, in bytes. Files that a configuration refers to normally hold a
 * token, a certificate or a few variables, so larger files are refused.
 */
const MAX_FILE_BYTES = 64 * 1024;

/** The reason why a file could not be read. Never contains a part of the file. */
interface ReadFailure {
  readonly why: string;
}

/** Returns the content of a file as text, or the reason why it cannot be read. */
export function readSmallFile(
  path: string,
  reader: ((path: string) => string) | Files | undefined,
): string | ReadFailure {
  try {
    if (reader === undefined) return { why: "files cannot be accessed" };
    const text: unknown = typeof reader === "function" ? reader(path) : readWith(reader, path);
    // The promise is not awaited; its rejection must not end the process.
    if (text instanceof Promise) text.catch(() => {});
    if (typeof text !== "string") return { why: "`readFile` must return a string, not a promise" };
    if (text.length > MAX_FILE_BYTES) return { why: `it is longer than ${MAX_FILE_BYTES} bytes (MAX_FILE_BYTES)` };
    return text.startsWith("\uFEFF") ? text.slice(1) : text;
  } catch (error) {
    return { why: reason(error) };
  }
}

/**
 * Describes an error by its code or, for a `Refusal`, by its message. Other messages are not shown, because they may
 * quote the file.
 */
function reason(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (typeof code === "string" && /^E[A-Z0-9]{2,20}$/.test(code)) return code;
  return error instanceof Refusal ? thrownMessage(error) : "reading it failed";
}

class Refusal extends Error {}

function readWith(files: Files, path: string): string {
  // Non-blocking, because opening a named pipe would otherwise block the process until a writer appears.
  const descriptor = files.openSync(path, files.constants.O_RDONLY | (files.constants.O_NONBLOCK ?? 0));
  try {
    if (!files.fstatSync(descriptor).isFile()) throw new Refusal("it is not a regular file");
    const bytes = new Uint8Array(MAX_FILE_BYTES + 1);
    let length = 0;
    while (length < bytes.length) {
      const count = files.readSync(descriptor, bytes, length, bytes.length - length, null);
      if (count === 0) break;
      length += count;
    }
    if (length > MAX_FILE_BYTES) throw new Refusal(`it is longer than ${MAX_FILE_BYTES} bytes (MAX_FILE_BYTES)`);
    return new TextDecoder().decode(bytes.subarray(0, length));
  } finally {
    files.closeSync(descriptor);
  }
}

const LINE = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(.*?)\s*$/;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/**
 * Reads lines of the form `NAME=value`, with `#` comments, `export`, and single or double quotes. Double-quoted values
 * support `\n`, `\r` and `\t`. Ignores other lines, as other programs do. Variable references such as `${NAME}` in
 * values are not expanded.
 */
export function parseEnvFile(text: string): Record<string, string> {
  const found: [string, string][] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, name, raw = ""] = LINE.exec(line) ?? [];
    if (name !== undefined && !isReservedName(name)) found.push([name, unquoted(raw)]);
  }
  return Object.fromEntries(found);
}

function unquoted(raw: string): string {
  const double = /^"((?:[^"\\]|\\.)*)"/.exec(raw)?.[1];
  if (double !== undefined) return double.replace(/\\(.)/g, (_, char: string) => ESCAPES[char] ?? char);
  const single = /^'([^']*)'/.exec(raw)?.[1];
  return single ?? raw.replace(/\s+#.*$/, "").replace(/^#.*$/, "");
}

/** Joins a folder and path segments, with the separator that the folder uses. */
export function joinPath(folder: string, ...names: readonly string[]): string {
  const separator = folder.includes("\\") && !folder.includes("/") ? "\\" : "/";
  return [folder.replace(/[\\/]+$/, ""), ...names].join(separator);
}

/**
 * Returns an absolute path unchanged. Resolves `~/…` against the home folder and other paths against the base folder.
 */
export function absolutePath(path: string, base: string | undefined, home: string | undefined): string {
  if (/^~[\\/]/.test(path) && home !== undefined) return joinPath(home, path.slice(2));
  if (base === undefined || /^(?:[\\/]|[A-Za-z]:[\\/])/.test(path)) return path;
  return joinPath(base, path.replace(/^\.[\\/]/, ""));
}
