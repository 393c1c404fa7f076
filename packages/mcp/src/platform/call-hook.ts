import { guarded } from "../encoding/maybe-promise.js";
import { thrownMessage } from "../encoding/thrown-message.js";

/**
 * Calls a function of the application whose result nobody needs. What it throws, or what its promise is rejected with, is
 * reported by `warn` under the option's `name`, and affects neither the work that is going on nor the process.
 */
export function callHook(warn: (message: string) => void, name: string, run: () => unknown): void {
  guarded(run, (error) => {
    try {
      warn(`\`${name}\` failed: ${thrownMessage(error)}`);
    } catch {
      // The report goes to a function of the application as well, and there is nobody else to tell.
    }
  });
}
