import type { HttpFacts } from "../../http/http.js";
import type { RequestMessage } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { MethodTable } from "../../protocol/methods.js";
import { decodeHeaderValue } from "./header-value.js";

/** Refuses a request whose headers do not repeat what its body says. */
export function checkHeaders(http: HttpFacts, message: RequestMessage, version: string, methods: MethodTable): void {
  compare("MCP-Protocol-Version", http.header("mcp-protocol-version"), version);
  compare("Mcp-Method", http.header("mcp-method"), message.method);
  const field = methods.get(message.method)?.nameField;
  if (field === undefined) return;
  const name = message.params?.[field];
  // A missing body field is a matter of parameters, not of headers.
  if (typeof name === "string") compare("Mcp-Name", http.header("mcp-name"), name, true);
}

function compare(header: string, sent: string | undefined, body: string, encoded = false): void {
  if (sent === undefined) throw mismatch(`the header ${header} is missing`);
  const value = encoded ? decodeHeaderValue(sent.trim()) : sent.trim();
  if (value === undefined) throw mismatch(`the header ${header} is not valid Base64`);
  if (value !== body) throw mismatch(`the header ${header} says "${value}" and the body says "${body}"`);
}

/** The error for a header that is missing, malformed or different from the body. */
export function mismatch(message: string): McpError {
  return new McpError("header_mismatch", message, { fix: "Send headers that repeat the body exactly." });
}
