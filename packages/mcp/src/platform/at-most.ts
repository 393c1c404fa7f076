import type { Platform } from "./platform.js";

/**
 * Resolves when `work`, which must not reject, is done or `ms` have passed, whichever is first. With `hold` the process stays
 * alive meanwhile, so that what is waited for is not lost to an empty event loop.
 */
export function atMost(platform: Platform, ms: number, work: Promise<unknown>, hold = false): Promise<void> {
  return new Promise((resolve) => {
    const timer = platform.timer(ms, resolve, hold);
    // A timer that is left would hold the process for the rest of its time.
    void work.then(() => {
      timer.cancel();
      resolve();
    });
  });
}
