import { type Id, isId } from "../jsonrpc/message.js";
import { McpError } from "./error.js";

/** The token of a request that wants to hear of progress. A number that this runtime cannot repeat exactly is refused. */
export function progressTokenOf(meta: Readonly<Record<string, unknown>> | undefined): Id | undefined {
  const token = meta?.["progressToken"];
  if (typeof token === "number" && !isId(token)) {
    throw new McpError("invalid_params", "a progress token is a string, or an integer of at most 2^53 - 1");
  }
  return isId(token) ? token : undefined;
}
