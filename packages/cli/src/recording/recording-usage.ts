import { McpError } from "@parley/mcp";
import { UsageError } from "../terminal/usage-error.js";

/** Runs `use` and converts an error about an invalid recording to a `UsageError`. */
export async function recordingUsage<T>(use: () => T | Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (reason) {
    if (!McpError.is(reason) || reason.kind !== "invalid_definition") throw reason;
    throw new UsageError(reason.message, reason.fix);
  }
}
