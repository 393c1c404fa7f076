import { McpError } from "@parley/mcp";
import { nearestName } from "@parley/mcp/protocol";

/** Number of names to list in a message. */
const MAX_NAMES = 20;

/** The error for a name that the server does not have, with a suggestion. */
export function unknownName(kind: string, name: string, known: readonly string[]): McpError {
  return new McpError("invalid_params", `the server has no ${kind} "${name.slice(0, 100)}"`, {
    fix: nameHint(name, known) ?? `The server has no ${kind}s.`,
  });
}

/** A suggestion: the nearest name, or else the known ones. Undefined if there are none. */
export function nameHint(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const near = nearestName(name, known);
  if (near !== undefined) return `Did you mean ${near}?`;
  return `Use one of: ${known.slice(0, MAX_NAMES).join(", ")}${known.length > MAX_NAMES ? ", …" : ""}.`;
}
