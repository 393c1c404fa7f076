import { canonicalJson } from "../encoding/canonical-json.js";
import { printableLine } from "../encoding/printable.js";
import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import { visibleJson } from "./compare-lock.js";
import { definitionDigest, LISTED_KINDS, type LockFile, type ServerLock } from "./server-lock.js";

const VERSION = 1;
const MAX_FILE_LENGTH = 64 * 1024 * 1024;

/**
 * Reads a lock file, from its text or from parsed JSON. Throws `invalid_definition` for a value that is not a lock
 * file, for another version, and if a definition does not match its digest because one of them was edited by hand.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/locking-tools.md | Locking tools}
 */
export function readLock(file: unknown): LockFile {
  const value = typeof file === "string" ? parseText(file) : file;
  if (!isObject(value) || value["lockfileVersion"] === undefined) {
    throw invalidLock("it has no `lockfileVersion`", "Pass what `writeLock` or `parley lock` wrote.");
  }
  if (value["lockfileVersion"] !== VERSION) {
    const version = printableLine(JSON.stringify(value["lockfileVersion"])).slice(0, 40);
    throw invalidLock(
      `it has version ${version}, but this program reads version ${VERSION}`,
      "Use the release that wrote it, or lock the servers again.",
    );
  }
  const { servers } = value;
  if (!isObject(servers)) throw invalidLock("it has no `servers`", "Lock the servers again.");
  for (const [name, lock] of Object.entries(servers)) checkServerLock(lock, `servers.${printableLine(name)}`);
  // Safe: every part was checked above.
  return value as unknown as LockFile;
}

/**
 * Returns the text of a lock file: the same bytes for the same locks, with invisible characters escaped.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/locking-tools.md | Locking tools}
 */
export function writeLock(servers: Readonly<Record<string, ServerLock>>): string {
  const file: LockFile = { lockfileVersion: VERSION, servers };
  return visibleJson(`${JSON.stringify(JSON.parse(canonicalJson(file)), undefined, 2)}\n`);
}

/** Throws `invalid_definition` unless the value is the lock of one server with matching digests. */
export function checkServerLock(lock: unknown, where: string): asserts lock is ServerLock {
  if (isObject(lock) && "lockfileVersion" in lock) {
    throw invalidLock(`${where} is a whole lock file`, "Pass the lock of one server: `readLock(text).servers[name]`.");
  }
  if (!isObject(lock)) throw invalidLock(`${where} is not the lock of a server`, "Lock the server again.");
  checkItem(lock["server"], `${where}.server`);
  for (const { member } of Object.values(LISTED_KINDS)) {
    const items = lock[member];
    if (!isObject(items)) throw invalidLock(`${where} has no \`${member}\``, "Lock the server again.");
    for (const [name, item] of Object.entries(items)) checkItem(item, `${where}.${member}.${printableLine(name)}`);
  }
}

function checkItem(item: unknown, where: string): void {
  if (!isObject(item) || !isObject(item["definition"]) || typeof item["digest"] !== "string") {
    throw invalidLock(`${where} has no digest and definition`, "Lock the server again.");
  }
  if (definitionDigest(item["definition"]) === item["digest"]) return;
  throw invalidLock(
    `the definition of ${where} does not match its digest, so one of them was edited by hand`,
    "Restore the file from version control, or review what the server offers and lock it again.",
  );
}

function parseText(text: string): unknown {
  if (text.length > MAX_FILE_LENGTH)
    throw invalidLock(`it is longer than ${MAX_FILE_LENGTH} characters`, "Lock fewer servers.");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidLock("it is not JSON", "Restore it from version control, or lock the servers again.", error);
  }
}

function invalidLock(why: string, fix: string, cause?: unknown): McpError {
  return new McpError("invalid_definition", `the lock cannot be used: ${why}`, { fix, cause });
}
