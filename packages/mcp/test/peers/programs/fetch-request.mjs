// Requests for handlers of web-standard requests, made afresh for each call as a server would get them.
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

function maker(method, params, name) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(name === undefined ? {} : { "mcp-name": name }),
  };
  return () => new Request("http://127.0.0.1:3000/mcp", { method: "POST", headers, body });
}

export const callRequest = maker("tools/call", { name: "add", arguments: { a: 1, b: 2 } }, "add");
export const listRequest = maker("tools/list", {});
