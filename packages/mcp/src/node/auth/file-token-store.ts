import type * as Files from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import type { TokenStore } from "../../auth/client/token-store.js";
import { McpError } from "../../protocol/error.js";
import { builtin } from "../builtin.js";

const LOCK_WAIT_MS = 50;
const LOCK_TRIES = 600;
/** A lock that is older belongs to a process that died: a refresh takes seconds. */
const LOCK_STALE_MS = 60_000;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Keeps credentials in one file that only its owner can read, so that users log in once. Several processes may share it.
 *
 * The folder is made with mode 0700 and the file with 0600; a file that others can read, or that is a symbolic link, is refused. Each change
 * is written beside the file and then takes its place, so that a crash leaves either the old or the new one.
 */
export function fileTokenStore(path: string): TokenStore {
  return new FileTokenStore(path);
}

class FileTokenStore implements TokenStore {
  readonly #path: string;
  /** Changes of this process, one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  async get(key: string): Promise<string | undefined> {
    await this.#last;
    const values = await this.#read();
    return Object.hasOwn(values, key) ? values[key] : undefined;
  }

  set(key: string, value: string): Promise<void> {
    return this.#change((values) => ({ ...values, [key]: value }));
  }

  delete(key: string): Promise<void> {
    return this.#change(({ [key]: _gone, ...values }) => values);
  }

  async lock<T>(_key: string, work: () => Promise<T>): Promise<T> {
    const release = await acquire(`${this.#path}.lock`, this.#path);
    try {
      return await work();
    } finally {
      await release();
    }
  }

  #change(update: (values: Record<string, string>) => Record<string, string>): Promise<void> {
    const done = this.#last.then(async () => {
      const release = await acquire(`${this.#path}.write`, this.#path);
      try {
        await this.#write(update(await this.#read()));
      } finally {
        await release();
      }
    });
    // The next change must not fail for this one.
    this.#last = done.catch(() => {});
    return done;
  }

  async #read(): Promise<Record<string, string>> {
    const { constants } = builtin("node:fs");
    let file: FileHandle;
    try {
      // Opened once and looked at while it is open, so that nobody can exchange it in between.
      file = await files().open(this.#path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    } catch (error) {
      if (codeOf(error) === "ENOENT") return {};
      throw codeOf(error) === "ELOOP" ? refused(this.#path, "it is a symbolic link") : error;
    }
    try {
      const { mode, size } = await file.stat();
      if (process.platform !== "win32" && (mode & 0o077) !== 0) {
        throw refused(this.#path, `others can read it (mode ${(mode & 0o777).toString(8)})`, `chmod 600 ${this.#path}`);
      }
      if (size > MAX_BYTES) throw refused(this.#path, "it is too large");
      return readValues(await file.readFile("utf8"), this.#path);
    } finally {
      await file.close();
    }
  }

  async #write(values: Record<string, string>): Promise<void> {
    const fresh = `${this.#path}.${process.pid}.${globalThis.crypto.randomUUID()}`;
    const file = await files().open(fresh, "wx", 0o600);
    try {
      await file.writeFile(JSON.stringify(values));
      await file.sync();
    } finally {
      await file.close();
    }
    await files().rename(fresh, this.#path);
  }
}

function readValues(text: string, path: string): Record<string, string> {
  try {
    const values: unknown = JSON.parse(text);
    if (typeof values === "object" && values !== null && !Array.isArray(values)) {
      return Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === "string"));
    }
  } catch {
    // Falls through to the one error below.
  }
  throw refused(path, "it does not hold what was written");
}

/** Takes a lock file, or waits for it; the returned function gives it back. */
async function acquire(lock: string, path: string): Promise<() => Promise<void>> {
  await files().mkdir(builtin("node:path").dirname(path), { recursive: true, mode: 0o700 });
  for (let tries = 0; tries < LOCK_TRIES; tries++) {
    try {
      const file = await files().open(lock, "wx", 0o600);
      await file.close();
      return () => files().rm(lock, { force: true });
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    const held = await files()
      .stat(lock)
      .catch(() => undefined);
    if (held !== undefined && Date.now() - held.mtimeMs > LOCK_STALE_MS) await files().rm(lock, { force: true });
    else await new Promise((resolve) => setTimeout(resolve, LOCK_WAIT_MS));
  }
  throw refused(path, "another process holds its lock", `delete ${lock} if no other program uses it`);
}

function files(): typeof Files {
  return builtin("node:fs/promises");
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function refused(path: string, reason: string, fix = "delete it and log in again"): McpError {
  return new McpError("misuse", `the token file ${path} is not used: ${reason}`, { fix: `Correct it: ${fix}.` });
}
