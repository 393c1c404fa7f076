import { McpError, type Operation } from "../../protocol/error.js";
import type { Checked } from "../../protocol/results.js";
import type { Requester } from "./requester.js";

/**
 * A checked result as the application gets it: flaws that were mended are warnings, one that cannot be mended is an error. A strict
 * client takes no flawed result at all.
 */
export function readResult<R>(
  { result, problems }: Checked<R>,
  what: string,
  requester: Requester,
  operation: Operation,
): R {
  if (problems.length === 0 && result !== undefined) return result;
  const { strict } = requester;
  if (result === undefined || strict) {
    throw new McpError("invalid_response", `${what} is malformed: ${problems.join("; ")}`, {
      data: { problems },
      operation,
      fix: strict
        ? "Leave out `strict` to accept the result without the flawed part."
        : "Report it to the author of the server.",
    });
  }
  for (const problem of problems) requester.warn(`${what}: ${problem}`);
  return result;
}
