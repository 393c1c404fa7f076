import type { Timer } from "./platform.js";

/** The longest delay of `setTimeout`; runtimes treat a longer or infinite one as 0. */
const LONGEST_MS = 2 ** 31 - 1;

/** Starts a timer of any length by chaining the runtime's own timers, which `start` creates. */
export function longTimer(ms: number, run: () => void, start: (ms: number, run: () => void) => Timer): Timer {
  if (ms <= LONGEST_MS) return start(ms, run);
  let current = start(LONGEST_MS, () => {
    current = longTimer(ms - LONGEST_MS, run, start);
  });
  return { cancel: () => current.cancel() };
}
