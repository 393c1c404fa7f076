import type * as Files from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import type { TokenStore } from "../../auth/client/token-store.js";
import { McpError } from "../../protocol/error.js";
import { builtin } from "../builtin.js";

const MAX_BYTES = 4 * 1024 * 1024;
/** How often a change is written whose lock another process took over meanwhile. */
const MAX_WRITES = 3;
/** The ending of temporary copies of the token file. */
const LEFTOVER = /^\d+\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

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

  /** Each key has a lock file of its own: a login at one server must not hold up the others. */
  async lock<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const digest = builtin("node:crypto").createHash("sha256").update(key).digest("hex").slice(0, 32);
    const lock = await this.#take(`${digest}.lock`, signal);
    try {
      return await work();
    } finally {
      await lock.release();
    }
  }

  #change(update: (values: Record<string, string>) => Record<string, string>): Promise<void> {
    const done = this.#last.then(async () => {
      for (let attempt = 1; ; attempt++) {
        const lock = await this.#take("write");
        try {
          if (await this.#write(update(await this.#read()), lock)) return;
        } finally {
          await lock.release();
        }
        if (attempt === MAX_WRITES) throw refused(this.#path, "other processes take its lock away", "try again");
      }
    });
    // The next change must not fail for this one.
    this.#last = done.catch(() => {});
    return done;
  }

  async #take(suffix: string, signal?: AbortSignal): Promise<HeldLock> {
    await this.#prepareFolder();
    const file = `${this.#path}.${suffix}`;
    const lock = await takeLock(file, signal);
    if (lock !== undefined) return lock;
    throw refused(this.#path, "another process holds its lock", `delete ${file} if no other program uses it`);
  }

  async #prepareFolder(): Promise<void> {
    const folder = builtin("node:path").dirname(this.#path);
    await files().mkdir(folder, { recursive: true, mode: 0o700 });
    if (process.platform === "win32") return;
    const { mode } = await files().stat(folder);
    // Who can write to the folder can exchange the file, unless the folder keeps each owner's files apart.
    if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) {
      throw refused(
        this.#path,
        `others can write to its folder (mode ${(mode & 0o777).toString(8)})`,
        `chmod 700 ${folder}`,
      );
    }
  }

  async #read(): Promise<Record<string, string>> {
    const { constants } = builtin("node:fs");
    let file: FileHandle;
    try {
      // Opened once and looked at while it is open, so that nobody can exchange it in between. A pipe must not make it wait.
      const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
      file = await files().open(this.#path, flags);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return {};
      throw codeOf(error) === "ELOOP" ? refused(this.#path, "it is a symbolic link") : error;
    }
    try {
      const found = await file.stat();
      const { mode, size, uid } = found;
      if (!found.isFile()) throw refused(this.#path, "it is not a file");
      if (process.getuid !== undefined && uid !== process.getuid())
        throw refused(this.#path, "it belongs to another user");
      if (process.platform !== "win32" && (mode & 0o077) !== 0) {
        throw refused(this.#path, `others can read it (mode ${(mode & 0o777).toString(8)})`, `chmod 600 ${this.#path}`);
      }
      if (size > MAX_BYTES) throw refused(this.#path, "it is too large");
      return readValues(await file.readFile("utf8"), this.#path);
    } finally {
      await file.close();
    }
  }

  /** Writes the file, or gives false if the lock was lost meanwhile: another process may have written since. */
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
      // A process that took the lock over has removed the copy.
      if (codeOf(error) === "ENOENT") return false;
      throw error;
    } finally {
      await files().rm(fresh, { force: true });
    }
  }

  /** Removes what writers left behind that were killed. Only the owner of the lock writes, so no other one is at work. */
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
    // Falls through to the one error below.
  }
  throw refused(path, "it does not hold what was written");
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

const WAIT_MS = 25;
/** Longer than a user may take to log in, because others wait for that. */
const MAX_WAIT_MS = 330_000;
/** How often the owner shows that it lives. */
const BEAT_MS = 5_000;
/** A lock without a beat for so long belongs to a process that died. */
const STALE_MS = 30_000;

/** A lock file that this process holds. */
export interface HeldLock {
  /** Whether no other process has taken it over, as happens to an owner that slept. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/**
 * Takes a lock file, or waits for it. Undefined if its owner lives and keeps it too long. Rejects with the reason of `signal` when
 * that aborts first.
 */
export async function takeLock(path: string, signal?: AbortSignal): Promise<HeldLock | undefined> {
  const watch = new StaleWatch(path);
  for (let waited = 0; waited < MAX_WAIT_MS; waited += WAIT_MS) {
    signal?.throwIfAborted();
    const owner = globalThis.crypto.randomUUID();
    if (await create(path, owner)) return ownerOf(path, owner);
    await watch.removeIfStale();
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
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

function ownerOf(path: string, owner: string): HeldLock {
  const isHeld = async () => (await contentOf(path)) === owner;
  const beat = setInterval(() => {
    isHeld()
      .then((held) => {
        const now = new Date();
        // A process that took the lock over shows by itself that it lives.
        return held ? files().utimes(path, now, now) : clearInterval(beat);
      })
      .catch(() => clearInterval(beat));
  }, BEAT_MS);
  beat.unref();
  return {
    isHeld,
    async release() {
      clearInterval(beat);
      if (await isHeld()) await files().rm(path, { force: true });
    },
  };
}

/** Removes a lock file that has been dead for long enough, as one waiting process sees it. */
class StaleWatch {
  readonly #path: string;
  /** The state of the file that was seen last, and since when. */
  #seen: { readonly mtimeMs: number; readonly since: number } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Moves a dead lock away, which only one process can do; one that turns out to be alive is put back. */
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

  /** Old by its date, or unchanged for as long as this process watches it: its date may be in the future. */
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
