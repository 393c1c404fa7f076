import { onAbort } from "./on-abort.js";
import type { Platform } from "./platform.js";

type Timers = Pick<Platform, "timer">;

/**
 * Resolves after `ms` milliseconds, or as soon as `signal` aborts. If `keepAlive` is set, the process stays alive
 * meanwhile.
 */
export function pause(platform: Timers, ms: number, signal?: AbortSignal, keepAlive = false): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = platform.timer(
      ms,
      () => {
        remove();
        resolve();
      },
      keepAlive,
    );
    const remove = onAbort(signal, () => {
      timer.cancel();
      resolve();
    });
  });
}

/**
 * Resolves when `work`, which must not reject, is done, or after `ms` milliseconds. If `ms` is infinite, waits for
 * `work` without a timer. If `keepAlive` is set, the timer keeps the process alive meanwhile.
 */
export function atMost(platform: Timers, ms: number, work: Promise<unknown>, keepAlive = false): Promise<void> {
  if (ms === Number.POSITIVE_INFINITY) return work.then(() => {});
  return new Promise((resolve) => {
    const timer = platform.timer(ms, resolve, keepAlive);
    void work.then(() => {
      // A remaining timer would keep the process alive.
      timer.cancel();
      resolve();
    });
  });
}
