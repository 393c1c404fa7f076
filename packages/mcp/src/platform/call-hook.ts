import { guarded } from "../encoding/maybe-promise.js";
import { thrownMessage } from "../encoding/thrown-message.js";

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
