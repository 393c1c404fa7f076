import { onAbort } from "./on-abort.js";
import type { Platform } from "./platform.js";

type Timers = Pick<Platform, "timer">;

/** Resolves after `ms`, or as soon as `signal` aborts. With `keepAlive` the process stays alive meanwhile. */
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
 * Resolves when `work`, which must not reject, is done or `ms` have passed, whichever is first. With `keepAlive` the process
 * stays alive meanwhile. An infinite time needs no timer.
 */
export function atMost(platform: Timers, ms: number, work: Promise<unknown>, keepAlive = false): Promise<void> {
  if (ms === Number.POSITIVE_INFINITY) return work.then(() => {});
  return new Promise((resolve) => {
    const timer = platform.timer(ms, resolve, keepAlive);
    void work.then(() => {
      // A timer that is left would hold the process for the rest of its time.
      timer.cancel();
      resolve();
    });
  });
}
