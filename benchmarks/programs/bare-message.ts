/** The parts of a message that the bare programs look at; they trust their input, which is what makes them the limit. */
export interface BareMessage {
  id: number;
  method: string;
  params: { arguments: { a: number; b: number }; _meta?: unknown; protocolVersion?: string };
}

/** The plain answer to a call: one object, written once. */
export function plainAnswer({ id, params }: BareMessage): string {
  const content = [{ type: "text", text: String(params.arguments.a + params.arguments.b) }];
  const result = params._meta === undefined ? { content } : { content, resultType: "complete" };
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

/** The tuned answer: its fixed parts are text already. */
export function tunedAnswer({ id, params }: BareMessage): string {
  const text = JSON.stringify(String(params.arguments.a + params.arguments.b));
  const tail = params._meta === undefined ? "" : ',"resultType":"complete"';
  return `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":${text}}]${tail}}}`;
}

const SERVER = { name: "bare", version: "1.0.0" };
const CAPABILITIES = { tools: {} };
const SCHEMA = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
};

/** What clients ask before and beside their calls. */
export function otherAnswer({ id, method, params }: BareMessage): string {
  const cached = { resultType: "complete", ttlMs: 60_000, cacheScope: "public" };
  const _meta = { "io.modelcontextprotocol/serverInfo": SERVER };
  if (method === "initialize") {
    const result = { protocolVersion: params.protocolVersion, capabilities: CAPABILITIES, serverInfo: SERVER };
    return JSON.stringify({ jsonrpc: "2.0", id, result });
  }
  if (method === "server/discover") {
    const offered = { supportedVersions: ["2026-07-28"], capabilities: CAPABILITIES, serverInfo: SERVER };
    return JSON.stringify({ jsonrpc: "2.0", id, result: { ...cached, ...offered, _meta } });
  }
  const tools = [{ name: "add", description: "Adds two numbers", inputSchema: SCHEMA }];
  return JSON.stringify({ jsonrpc: "2.0", id, result: { ...cached, tools, _meta } });
}
