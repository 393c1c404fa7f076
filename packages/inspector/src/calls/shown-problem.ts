import { McpError } from "@parley/mcp/protocol";
import type { ShownProblem } from "../contract/connections.js";

/** Any failure as the page shows it. */
export function shownProblem(error: unknown): ShownProblem {
  const { message, fix, kind, data } = McpError.from(error);
  return { message, fix, kind, ...(data === undefined ? {} : { data }) };
}
