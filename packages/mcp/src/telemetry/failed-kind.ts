import { McpError } from "../protocol/error.js";
import type { CallEnded } from "../server/contract/observer.js";

/** Why a call failed: how its handler did, or the kind of its error. */
export function failedKind({ outcome, error, failure }: CallEnded): string {
  if (failure !== undefined) return failure;
  return outcome === "tool_error" ? "tool_error" : McpError.from(error).kind;
}
