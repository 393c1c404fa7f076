import { guarded } from "../encoding/maybe-promise.js";
import { thrownMessage } from "../encoding/thrown-message.js";
import type { Platform } from "./platform.js";

/** Receives warnings: a function, or a platform, whose `warn` may need its `this`. */
type Warner = ((message: string) => void) | { warn(message: string): void };

/**
 * Calls a function of the application and ignores its result. If it throws or rejects, reports the error with `warner`
 * under the `name` of the option. The error affects neither the current work nor the process.
 */
export function callHook(warner: Warner, name: string, run: () => unknown): void {
  guarded(run, (error) => {
    try {
      const report = `\`${name}\` failed: ${thrownMessage(error)}`;
      if (typeof warner === "function") warner(report);
      else warner.warn(report);
    } catch {
      // `warn` may be a function of the application too, so there is no other place to report to.
    }
  });
}

/** Provides an ambient context for some work. */
interface AmbientContext {
  within?(run: () => void): void;
}

/**
 * Runs `work` exactly once, inside the contexts of all `followers`. If a follower throws, reports the error and runs
 * the work anyway.
 */
export function runWithin<T>(
  platform: Platform,
  followers: readonly AmbientContext[],
  work: () => T | Promise<T>,
): Promise<T> {
  let working: Promise<T> | undefined;
  let run = () => {
    // A promise, so that work that throws does not run again outside the contexts.
    working ??= new Promise((resolve) => resolve(work()));
  };
  for (const follower of followers) {
    if (follower.within === undefined) continue;
    const inner = run;
    run = () => {
      callHook(platform, "within", () => follower.within?.(inner));
      inner();
    };
  }
  run();
  // Safe: `run` has set `working`.
  return working as unknown as Promise<T>;
}
