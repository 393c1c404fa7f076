import type * as Files from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import type { TokenStore } from "../../auth/client/token-store.js";
import { McpError } from "../../protocol/error.js";
import { builtin } from "../builtin.js";

/** Maximum size of the token file, in bytes. A larger file is rejected. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Maximum number of attempts to write one change. An attempt fails if another process takes over the lock. */
const MAX_WRITES = 3;
/** Matches the suffix of temporary copies of the token file. */
const LEFTOVER = /^\d+\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Stores credentials in one file that only its owner can read, so that users log in once. Several processes can share
 * the file.
 *
 * Creates the folder with mode 0700 and the file with mode 0600. Rejects a file that is a symbolic link, that belongs to
 * another user or that others can read, and a folder that others can write to. Writes each change to a temporary file and
 * renames it, so that a crash leaves either the old or the new version.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/logging-in.md | Logging in}
 */
export function fileTokenStore(path: string): TokenStore {
  return new FileTokenStore(path);
}

class FileTokenStore implements TokenStore {
  readonly #path: string;
  /** The most recent change of this process. The next change waits for it. */
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

  /**
   * Runs `work` while holding the lock file of the key. Each key has its own lock file, so that a login at one server
   * does not block logins at others.
   */
  async lock<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const digest = builtin("node:crypto").createHash("sha256").update(key).digest("hex").slice(0, 32);
    const lock = await this.#acquire(`${digest}.lock`, signal);
    try {
      return await work();
    } finally {
      await lock.release();
    }
  }

  #change(update: (values: Record<string, string>) => Record<string, string>): Promise<void> {
    const done = this.#last.then(async () => {
      for (let attempt = 1; ; attempt++) {
        const lock = await this.#acquire("write");
        try {
          if (await this.#write(update(await this.#read()), lock)) return;
        } finally {
          await lock.release();
        }
        if (attempt === MAX_WRITES)
          throw unusableFile(this.#path, "other processes keep taking over its lock", "Try again");
      }
    });
    // A failed change must not fail the next one.
    this.#last = done.catch(() => {});
    return done;
  }

  async #acquire(suffix: string, signal?: AbortSignal): Promise<HeldLock> {
    await this.#prepareFolder();
    const file = `${this.#path}.${suffix}`;
    const lock = await acquireLock(file, signal);
    if (lock !== undefined) return lock;
    throw unusableFile(this.#path, "another process holds its lock", `Delete ${file} if no other program uses it`);
  }

  async #prepareFolder(): Promise<void> {
    const folder = builtin("node:path").dirname(this.#path);
    await files().mkdir(folder, { recursive: true, mode: 0o700 });
    if (process.platform === "win32") return;
    const { mode } = await files().stat(folder);
    // A user who can write to the folder could replace the file, unless the sticky bit protects each owner's files.
    if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) {
      throw unusableFile(
        this.#path,
        `others can write to its folder (mode ${(mode & 0o777).toString(8)})`,
        `Run chmod 700 ${folder}`,
      );
    }
  }

  async #read(): Promise<Record<string, string>> {
    const { constants } = builtin("node:fs");
    let file: FileHandle;
    try {
      // Open the file first and check the open file, so that no other process can replace it between check and read.
      // O_NONBLOCK, so that opening a named pipe does not wait for a writer.
      const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
      file = await files().open(this.#path, flags);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return {};
      throw codeOf(error) === "ELOOP" ? unusableFile(this.#path, "it is a symbolic link") : error;
    }
    try {
      const found = await file.stat();
      const { mode, size, uid } = found;
      if (!found.isFile()) throw unusableFile(this.#path, "it is not a file");
      if (process.getuid !== undefined && uid !== process.getuid())
        throw unusableFile(this.#path, "it belongs to another user");
      if (process.platform !== "win32" && (mode & 0o077) !== 0) {
        throw unusableFile(
          this.#path,
          `others can read it (mode ${(mode & 0o777).toString(8)})`,
          `Run chmod 600 ${this.#path}`,
        );
      }
      if (size > MAX_BYTES) throw unusableFile(this.#path, "it is too large");
      return readValues(await file.readFile("utf8"), this.#path);
    } finally {
      await file.close();
    }
  }

  /**
   * Writes the file. If another process has taken over the lock, returns false and leaves the file unchanged, because
   * that process may have written to it.
   */
  async #write(values: Record<string, string>, lock: HeldLock): Promise<boolean> {
    await this.#removeLeftovers();
    const fresh = `${this.#path}.${process.pid}.${globalThis.crypto.randomUUID()}`;
    try {
      const file = await files().open(fresh, "wx", 0o600);
      try {
        await file.writeFile(JSON.stringify(values));
        await file.sync();
      } finally {
        await file.close();
      }
      if (!(await lock.isHeld())) return false;
      await files().rename(fresh, this.#path);
      return true;
    } catch (error) {
      // ENOENT: a process that took over the lock has removed the temporary copy.
      if (codeOf(error) === "ENOENT") return false;
      throw error;
    } finally {
      await files().rm(fresh, { force: true });
    }
  }

  /** Removes temporary copies of killed writers. Only the lock owner writes, so no other copy is in use. */
  async #removeLeftovers(): Promise<void> {
    const { basename, dirname, join } = builtin("node:path");
    const [folder, name] = [dirname(this.#path), basename(this.#path)];
    for (const found of await files().readdir(folder)) {
      if (!found.startsWith(`${name}.`) || !LEFTOVER.test(found.slice(name.length + 1))) continue;
      await files().rm(join(folder, found), { force: true });
    }
  }
}

function readValues(text: string, path: string): Record<string, string> {
  try {
    const values: unknown = JSON.parse(text);
    if (typeof values === "object" && values !== null && !Array.isArray(values)) {
      return Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === "string"));
    }
  } catch {
    // The text is not JSON: the error below is thrown.
  }
  throw unusableFile(path, "its content is damaged");
}

function files(): typeof Files {
  return builtin("node:fs/promises");
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function unusableFile(path: string, reason: string, fix = "Delete it and log in again"): McpError {
  return new McpError("misuse", `the token file ${path} cannot be used: ${reason}`, { fix: `${fix}.` });
}

const RETRY_MS = 25;
/**
 * Maximum wait for a lock, in milliseconds. Longer than a user may take to log in, because other processes wait for
 * that login.
 */
const MAX_WAIT_MS = 330_000;
/** Interval at which the owner renews the lock, in milliseconds. */
const HEARTBEAT_MS = 5_000;
/** Age in milliseconds at which a lock that was not renewed counts as abandoned. */
const STALE_MS = 30_000;

/** A lock file that this process holds. */
export interface HeldLock {
  /** False if another process has taken over the lock, which can happen while this process is suspended. */
  isHeld(): Promise<boolean>;
  /** Removes the lock file if this process still holds it. */
  release(): Promise<void>;
}

/**
 * Acquires a lock file, waiting if necessary. Returns undefined if another process holds the lock for too long. Rejects
 * with the reason of `signal` if `signal` aborts first.
 */
export async function acquireLock(path: string, signal?: AbortSignal): Promise<HeldLock | undefined> {
  const watch = new StaleWatch(path);
  for (let waited = 0; waited < MAX_WAIT_MS; waited += RETRY_MS) {
    signal?.throwIfAborted();
    const owner = globalThis.crypto.randomUUID();
    if (await create(path, owner)) return heldLock(path, owner);
    await watch.removeIfStale();
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  return undefined;
}

async function create(path: string, owner: string): Promise<boolean> {
  try {
    await files().writeFile(path, owner, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

function heldLock(path: string, owner: string): HeldLock {
  const isHeld = async () => (await contentOf(path)) === owner;
  const heartbeat = setInterval(() => {
    isHeld()
      .then((held) => {
        const now = new Date();
        // After a takeover, the new owner renews the lock, so this process must stop renewing it.
        return held ? files().utimes(path, now, now) : clearInterval(heartbeat);
      })
      .catch(() => clearInterval(heartbeat));
  }, HEARTBEAT_MS);
  heartbeat.unref();
  return {
    isHeld,
    async release() {
      clearInterval(heartbeat);
      if (await isHeld()) await files().rm(path, { force: true });
    },
  };
}

/** Detects and removes a stale lock file on behalf of one waiting process. */
class StaleWatch {
  readonly #path: string;
  /** Last observed modification time of the file, and the time at which this value was first observed. */
  #seen: { readonly mtimeMs: number; readonly since: number } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Renames a stale lock file and then deletes it. If several processes try this, only one of them can rename the file.
   * Restores the file if its owner has renewed the lock meanwhile.
   */
  async removeIfStale(): Promise<void> {
    const path = this.#path;
    if (!(await this.#isStale(path))) return;
    const aside = `${path}.${globalThis.crypto.randomUUID()}`;
    try {
      await files().rename(path, aside);
      if (!(await this.#isStale(aside))) await files().link(aside, path);
    } catch {
      // Another process was faster.
    }
    await files().rm(aside, { force: true });
  }

  /**
   * True if the file is old by its modification time, or has not changed for `STALE_MS` while this process watched it.
   * The second condition is needed because the modification time may be in the future.
   */
  async #isStale(path: string): Promise<boolean> {
    const found = await files()
      .stat(path)
      .catch(() => undefined);
    if (found === undefined) return false;
    const { mtimeMs } = found;
    if (this.#seen?.mtimeMs !== mtimeMs) this.#seen = { mtimeMs, since: performance.now() };
    return Date.now() - mtimeMs > STALE_MS || performance.now() - this.#seen.since > STALE_MS;
  }
}

async function contentOf(path: string): Promise<string | undefined> {
  return files()
    .readFile(path, "utf8")
    .catch(() => undefined);
}
