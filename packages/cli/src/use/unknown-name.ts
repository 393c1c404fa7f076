import { McpError } from "@parley/mcp";
import { nearestName } from "@parley/mcp/protocol";

/** Maximum number of names listed in a message. Further names are replaced by "…". */
const MAX_NAMES = 20;

/** The error for a name that the server does not have, with a suggestion. */
export function unknownName(kind: string, name: string, known: readonly string[]): McpError {
  return new McpError("invalid_params", `the server has no ${kind} "${name.slice(0, 100)}"`, {
    fix: nameHint(name, known) ?? `The server has no ${kind}s.`,
  });
}

/** A suggestion: the nearest known name or, if none is near, the first known names. Undefined if no name is known. */
export function nameHint(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const near = nearestName(name, known);
  if (near !== undefined) return `Did you mean ${near}?`;
  return `Use one of: ${known.slice(0, MAX_NAMES).join(", ")}${known.length > MAX_NAMES ? ", …" : ""}.`;
}
