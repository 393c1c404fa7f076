import { McpError } from "../../protocol/error.js";
import type { ServerCall } from "./server-call.js";

/**
 * Refuses a caller that lacks scopes of what it asks for, such as `the tool "a"`; the HTTP transport turns the refusal into a
 * challenge.
 *
 * Spec: Tools, "Security Considerations",
 * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#security-considerations
 */
export function checkScopes(what: string, name: string, scopes: readonly string[] | undefined, call: ServerCall): void {
  if (scopes === undefined || scopes.length === 0) return;
  const { principal, peer, http } = call.exchange;
  const auth = principal ?? peer?.principal;
  // A pipe to a parent process has no authorization. Over HTTP, a request without it must not get past the check.
  if (auth === undefined && http === undefined) return;
  const missing = scopes.filter((scope) => auth?.scopes?.includes(scope) !== true);
  if (missing.length === 0) return;
  call.reply = { scopes: [...scopes] };
  throw new McpError("insufficient_scope", `the ${what} "${name}" needs the scope ${missing.join(" ")}`, {
    data: { scopes },
  });
}
