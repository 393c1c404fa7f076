import { capabilitiesFor } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { ServerCall } from "../call/server-call.js";

/** Whether a question that needs a capability of the client can be put to it, in this revision and on this connection. */
export function canAsk({ request, exchange }: ServerCall, capability: string): boolean {
  return request.era.canAsk(request, capability, exchange.ask !== undefined);
}

/** Refuses a call whose questions the client said it cannot answer; the error names all that is missing. */
export function requireCapabilities(call: ServerCall, capabilities: readonly string[]): void {
  const missing = capabilities.filter((path) => !canAsk(call, path));
  const [first] = missing;
  if (first === undefined) return;
  throw new McpError("capability_missing", `the client does not support ${missing.map(quoted).join(", ")}`, {
    data: { requiredCapabilities: capabilitiesFor(...missing) },
    fix: `Check \`ctx.client.can("${first}")\` before asking, or connect with a client that declares it.`,
  });
}

function quoted(name: string): string {
  return `"${name}"`;
}
