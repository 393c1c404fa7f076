import { canonicalJson } from "../encoding/canonical-json.js";
import { printableLine } from "../encoding/printable.js";
import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import { visibleJson } from "./compare-lock.js";
import { definitionDigest, LISTED_KINDS, type LockFile, type ServerLock } from "./server-lock.js";

const VERSION = 1;
const MAX_FILE_LENGTH = 64 * 1024 * 1024;

/**
 * Reads a lock file, from its text or from parsed JSON. Throws `invalid_definition` for what is no lock file, for one of another
 * version, and for one in which a definition does not fit its digest, because somebody changed one of them by hand.
 */
export function readLock(file: unknown): LockFile {
  const value = typeof file === "string" ? parsed(file) : file;
  if (!isObject(value) || value["lockfileVersion"] === undefined) {
    throw broken("it has no `lockfileVersion`", "Pass what `writeLock` or `parley lock` wrote.");
  }
  if (value["lockfileVersion"] !== VERSION) {
    const version = printableLine(JSON.stringify(value["lockfileVersion"])).slice(0, 40);
    throw broken(
      `it has version ${version}, and this program reads version ${VERSION}`,
      "Use the release that wrote it, or lock the servers again.",
    );
  }
  const { servers } = value;
  if (!isObject(servers)) throw broken("it has no `servers`", "Lock the servers again.");
  for (const [name, lock] of Object.entries(servers)) checkServerLock(lock, `servers.${printableLine(name)}`);
  // Safe: every part was checked above.
  return value as unknown as LockFile;
}

/** The text of a lock file: the same bytes for the same locks, with hidden characters spelled. */
export function writeLock(servers: Readonly<Record<string, ServerLock>>): string {
  const file: LockFile = { lockfileVersion: VERSION, servers };
  return visibleJson(`${JSON.stringify(JSON.parse(canonicalJson(file)), undefined, 2)}\n`);
}

/** Throws `invalid_definition` unless the value is the lock of one server with digests that fit. */
export function checkServerLock(lock: unknown, where: string): asserts lock is ServerLock {
  if (isObject(lock) && "lockfileVersion" in lock) {
    throw broken(`${where} is a whole file`, "Pass the lock of one server: `readLock(text).servers[name]`.");
  }
  if (!isObject(lock)) throw broken(`${where} is not the lock of a server`, "Lock the server again.");
  checkItem(lock["server"], `${where}.server`);
  for (const { member } of Object.values(LISTED_KINDS)) {
    const items = lock[member];
    if (!isObject(items)) throw broken(`${where} has no \`${member}\``, "Lock the server again.");
    for (const [name, item] of Object.entries(items)) checkItem(item, `${where}.${member}.${printableLine(name)}`);
  }
}

function checkItem(item: unknown, where: string): void {
  if (!isObject(item) || !isObject(item["definition"]) || typeof item["digest"] !== "string") {
    throw broken(`${where} has no digest and definition`, "Lock the server again.");
  }
  if (definitionDigest(item["definition"]) === item["digest"]) return;
  throw broken(
    `the definition of ${where} does not fit its digest, so one of them was changed by hand`,
    "Restore the file from version control, or look at what the server offers and lock it again.",
  );
}

function parsed(text: string): unknown {
  if (text.length > MAX_FILE_LENGTH)
    throw broken(`it is longer than ${MAX_FILE_LENGTH} characters`, "Lock fewer servers.");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw broken("it is not JSON", "Restore it from version control, or lock the servers again.", error);
  }
}

function broken(why: string, fix: string, cause?: unknown): McpError {
  return new McpError("invalid_definition", `the lock cannot be used: ${why}`, { fix, cause });
}
