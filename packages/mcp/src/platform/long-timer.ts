import type { Timer } from "./platform.js";

/** The longest wait that runtimes can count. They take a longer one, and an endless one, for none at all. */
const LONGEST_MS = 2 ** 31 - 1;

/** Starts a timer of any length with one of the runtime's own, which `start` makes. */
export function longTimer(ms: number, run: () => void, start: (ms: number, run: () => void) => Timer): Timer {
  if (ms <= LONGEST_MS) return start(ms, run);
  let current = start(LONGEST_MS, () => {
    current = longTimer(ms - LONGEST_MS, run, start);
  });
  return { cancel: () => current.cancel() };
}
