import { capabilitiesFor } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { ServerCall } from "./server-call.js";

type AskableCall = Pick<ServerCall, "request" | "exchange">;

/** True if this client can be asked a question that needs this capability, in this revision and on this connection. */
export function canAsk({ request, exchange }: AskableCall, capability: string): boolean {
  return request.era.canAsk(request, capability, exchange.ask !== undefined);
}

/**
 * Throws `capability_missing` with all missing capabilities if the client cannot be asked.
 *
 * Spec: Multi Round-Trip Requests, "Server Requirements (Basic Workflow)",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
 */
export function requireCapabilities(call: AskableCall, capabilities: readonly string[]): void {
  const missing = capabilities.filter((path) => !canAsk(call, path));
  const [first] = missing;
  if (first === undefined) return;
  const { era, revision } = call.request;
  const absent = missing.filter((path) => !era.hasQuestion(call.request, path));
  const data = { requiredCapabilities: capabilitiesFor(...missing) };
  if (absent.length > 0) {
    throw new McpError(
      "capability_missing",
      `the revision ${revision} does not have ${absent.map(quoted).join(", ")}`,
      {
        data,
        fix: `Check \`ctx.client.can("${first}")\` before asking, or connect in a newer revision.`,
      },
    );
  }
  throw new McpError("capability_missing", `the client does not support ${missing.map(quoted).join(", ")}`, {
    data,
    fix: `Check \`ctx.client.can("${first}")\` before asking, or connect with a client that declares it.`,
  });
}

function quoted(name: string): string {
  return `"${name}"`;
}
