import type * as Files from "node:fs/promises";
import { builtin } from "../builtin.js";

const WAIT_MS = 25;
/** Longer than a user may take to log in, because others wait for that. */
const MAX_WAIT_MS = 330_000;
/** How often the owner shows that it lives. */
const BEAT_MS = 5_000;
/** A lock without a beat for so long belongs to a process that died. */
const STALE_MS = 30_000;

/** Takes a lock file, or waits for it; the returned function gives it back. Undefined if its owner lives and keeps it too long. */
export async function takeLock(path: string): Promise<(() => Promise<void>) | undefined> {
  for (let waited = 0; waited < MAX_WAIT_MS; waited += WAIT_MS) {
    if (await create(path)) return ownerOf(path);
    await removeIfStale(path);
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  return undefined;
}

async function create(path: string): Promise<boolean> {
  try {
    const file = await files().open(path, "wx", 0o600);
    await file.close();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

function ownerOf(path: string): () => Promise<void> {
  const beat = setInterval(() => {
    const now = new Date();
    // Whoever removed the lock has taken it; there is nothing left to keep alive.
    files()
      .utimes(path, now, now)
      .catch(() => clearInterval(beat));
  }, BEAT_MS);
  beat.unref();
  return () => {
    clearInterval(beat);
    return files().rm(path, { force: true });
  };
}

/** Moves a dead lock away, which only one process can do; one that turns out to be alive is put back. */
async function removeIfStale(path: string): Promise<void> {
  if (!(await isStale(path))) return;
  const aside = `${path}.${globalThis.crypto.randomUUID()}`;
  try {
    await files().rename(path, aside);
    if (!(await isStale(aside))) await files().link(aside, path);
  } catch {
    // Another process was faster.
  }
  await files().rm(aside, { force: true });
}

async function isStale(path: string): Promise<boolean> {
  const found = await files()
    .stat(path)
    .catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > STALE_MS;
}

function files(): typeof Files {
  return builtin("node:fs/promises");
}
