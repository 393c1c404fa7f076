import type * as Files from "node:fs/promises";
import { builtin } from "../builtin.js";

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

function files(): typeof Files {
  return builtin("node:fs/promises");
}
