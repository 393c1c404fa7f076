import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";

/** Whether the sender of a request declares an extension. */
export function declaresExtension({ extensions }: Pick<ClientCapabilities, "extensions">, id: string): boolean {
  return typeof extensions === "object" && extensions !== null && Object.hasOwn(extensions, id);
}

/**
 * Throws `capability_missing` unless the sender of a request declares an extension.
 *
 * Spec: Extensions, "Negotiation", https://modelcontextprotocol.io/extensions/overview
 */
export function requireExtension(call: { readonly clientCapabilities: ClientCapabilities }, id: string): void {
  if (declaresExtension(call.clientCapabilities, id)) return;
  throw new McpError("capability_missing", `the client does not declare the extension ${id}`, {
    data: { requiredCapabilities: { extensions: { [id]: {} } } },
    fix: "Connect with a client that declares it.",
  });
}
