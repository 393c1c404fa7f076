import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Files } from "../../platform/platform.js";
import { isReservedName } from "./config-dialect.js";

/** Longest file that a configuration may refer to, in bytes: they hold a token, a certificate or some variables. */
const MAX_FILE_BYTES = 64 * 1024;

/** Why a file gave nothing; never with a part of it. */
interface Unread {
  readonly why: string;
}

/** What a file holds, as text. */
export function readSmallFile(path: string, by: ((path: string) => string) | Files | undefined): string | Unread {
  try {
    if (by === undefined) return { why: "there is no access to files" };
    const text: unknown = typeof by === "function" ? by(path) : readWith(by, path);
    // A promise is never awaited here, and must not end the process when it is rejected.
    if (text instanceof Promise) text.catch(() => {});
    if (typeof text !== "string") return { why: "`readFile` must return its text at once" };
    if (text.length > MAX_FILE_BYTES) return { why: `it is longer than ${MAX_FILE_BYTES} bytes (MAX_FILE_BYTES)` };
    return text.startsWith("\uFEFF") ? text.slice(1) : text;
  } catch (error) {
    return { why: reason(error) };
  }
}

/** The code of a system error; other messages may quote the file. */
function reason(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (typeof code === "string" && /^E[A-Z0-9]{2,20}$/.test(code)) return code;
  return error instanceof Refusal ? thrownMessage(error) : "reading it failed";
}

class Refusal extends Error {}

function readWith(files: Files, path: string): string {
  // A pipe would keep the process waiting for a writer.
  const descriptor = files.openSync(path, files.constants.O_RDONLY | (files.constants.O_NONBLOCK ?? 0));
  try {
    if (!files.fstatSync(descriptor).isFile()) throw new Refusal("it is no ordinary file");
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
 * Reads lines of the form `NAME=value`, with `#` comments, `export`, and single or double quotes; double quotes know `\n` and the
 * like. Other lines are passed over, as other readers do. Nothing is filled in.
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

/** Joins a folder and a path below it, with the separator that the folder has. */
export function joinPath(folder: string, ...names: readonly string[]): string {
  const separator = folder.includes("\\") && !folder.includes("/") ? "\\" : "/";
  return [folder.replace(/[\\/]+$/, ""), ...names].join(separator);
}

/** A path as it stands if it is absolute; otherwise below the home folder (`~/…`) or the base folder. */
export function absolutePath(path: string, base: string | undefined, home: string | undefined): string {
  if (/^~[\\/]/.test(path) && home !== undefined) return joinPath(home, path.slice(2));
  if (base === undefined || /^(?:[\\/]|[A-Za-z]:[\\/])/.test(path)) return path;
  return joinPath(base, path.replace(/^\.[\\/]/, ""));
}
