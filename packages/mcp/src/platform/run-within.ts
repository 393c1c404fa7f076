import { callHook } from "./call-hook.js";
import type { Platform } from "./platform.js";

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
