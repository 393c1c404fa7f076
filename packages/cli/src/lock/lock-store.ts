import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { McpError } from "@parley/mcp";
import { readLock, type ServerLock, writeLock } from "@parley/mcp/lock";
import { UsageError } from "../terminal/usage-error.js";

const LARGEST_BYTES = 64 * 1024 * 1024;

/** The locks of one file, which is written only where something changed. */
export class LockStore {
  readonly path: string;
  /** False if there is no such file yet. */
  readonly exists: boolean;
  readonly #before: string;
  readonly #servers: Map<string, ServerLock>;

  /** Throws a `UsageError` for a file that cannot be used. */
  constructor(path: string) {
    this.path = path;
    const text = readText(path);
    this.exists = text !== undefined;
    this.#before = text ?? "";
    this.#servers = new Map(text === undefined ? [] : Object.entries(locksIn(path, text)));
  }

  get names(): string[] {
    return [...this.#servers.keys()];
  }

  get(name: string): ServerLock | undefined {
    return this.#servers.get(name);
  }

  set(name: string, lock: ServerLock): void {
    this.#servers.set(name, lock);
  }

  /** Replaces the file as a whole, so that nobody reads half of it. */
  write(): void {
    const text = writeLock(Object.fromEntries(this.#servers));
    if (text === this.#before) return;
    const draft = `${this.path}.${randomUUID()}.new`;
    try {
      writeFileSync(draft, text);
      renameSync(draft, this.path);
    } catch (reason) {
      rmSync(draft, { force: true });
      const why = reason instanceof Error ? reason.message : String(reason);
      throw new UsageError(`${this.path} cannot be written: ${why}`, "Name a file that can be written by --output.");
    }
  }
}

function readText(path: string): string | undefined {
  try {
    const { size } = statSync(path);
    if (size > LARGEST_BYTES) throw new UsageError(`${path} has ${size} bytes`, "Name a lock file by --output.");
    return readFileSync(path, "utf8");
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if (reason instanceof UsageError) throw reason;
    const why = reason instanceof Error ? reason.message : String(reason);
    throw new UsageError(`${path} cannot be read: ${why}`, "Name a lock file by --output.");
  }
}

function locksIn(path: string, text: string): Readonly<Record<string, ServerLock>> {
  try {
    return readLock(text).servers;
  } catch (reason) {
    const { message, fix } = McpError.from(reason);
    throw new UsageError(`${path}: ${message}`, fix);
  }
}
