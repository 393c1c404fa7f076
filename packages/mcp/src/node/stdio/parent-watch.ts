import type { Platform, Timer } from "../../platform/platform.js";

const EVERY_MS = 500;

/**
 * Calls `gone` once when the process that started this one has exited. Returns a function that stops watching.
 *
 * Usually stdin ends at the same time, but not if another process holds the other end of the pipe, as when a wrapper
 * script between a host and its server is killed.
 */
export function watchParent(platform: Platform, gone: () => void): () => void {
  const parent = process.ppid;
  let timer: Timer | undefined;
  const look = () => {
    if (isGone(parent)) gone();
    else timer = platform.timer(EVERY_MS, look);
  };
  timer = platform.timer(EVERY_MS, look);
  return () => timer?.cancel();
}

function isGone(parent: number): boolean {
  // POSIX gives an orphan another parent; Windows keeps the id of the dead one.
  if (process.platform !== "win32") return process.ppid !== parent;
  try {
    process.kill(parent, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
