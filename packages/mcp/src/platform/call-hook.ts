import { guarded } from "../encoding/maybe-promise.js";
import { thrownMessage } from "../encoding/thrown-message.js";
import type { Platform } from "./platform.js";

/** Who hears of failures: a function, or a platform, whose `warn` may need its `this`. */
type Warner = ((message: string) => void) | { warn(message: string): void };

/**
 * Calls a function of the application whose result nobody needs. What it throws, or what its promise is rejected with, is
 * reported by `warner` under the option's `name`, and affects neither the work that is going on nor the process.
 */
export function callHook(warner: Warner, name: string, run: () => unknown): void {
  guarded(run, (error) => {
    try {
      const report = `\`${name}\` failed: ${thrownMessage(error)}`;
      if (typeof warner === "function") warner(report);
      else warner.warn(report);
    } catch {
      // The report goes to a function of the application as well, and there is nobody else to tell.
    }
  });
}

/** Provides the ambient context of some work. */
interface Surrounding {
  within?(run: () => void): void;
}

/** Does `work` once, within what all of `followers` provide, and in any case: what they throw is reported and changes nothing. */
export function runWithin<T>(
  platform: Platform,
  followers: readonly Surrounding[],
  work: () => T | Promise<T>,
): Promise<T> {
  let working: Promise<T> | undefined;
  let run = () => {
    // What throws is not tried again outside of those who follow.
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
  // Whoever follows has run it.
  return working as unknown as Promise<T>;
}
