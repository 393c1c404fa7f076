/** The `_meta` that every request of the newest revision carries. */
export const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

export interface ModernCall {
  headers: Record<string, string>;
  body: string;
}

/** A request of the newest revision: headers and body agree. */
export function modern(method: string, params: Record<string, unknown> = {}, id: string | number = 1): ModernCall {
  const name = params["name"] ?? params["uri"];
  return {
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {}),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: MODERN_META } }),
  };
}

/** The JSON messages of an event stream's text, in order. */
export function eventsOf(text: string): { id?: string; data: string }[] {
  return text
    .split("\n\n")
    .filter((block) => /^(id|data|event)/m.test(block))
    .map((block) => {
      const fields = block.split("\n").map((line) => /^(\w+): ?(.*)$/.exec(line));
      const data = fields.filter((field) => field?.[1] === "data").map((field) => field?.[2] ?? "");
      const id = fields.find((field) => field?.[1] === "id")?.[2];
      return { ...(id === undefined ? {} : { id }), data: data.join("\n") };
    });
}
