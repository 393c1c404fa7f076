import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "wrong", version: "0.3.0" },
  },
  "tools/list": {
    tools: [
      { name: "forecast", description: "The weather of a day", inputSchema: { type: "object" } },
      { name: 12, description: "Its name is a number", inputSchema: { type: "array" } },
    ],
  },
};

/** Serves what no server may answer: tools that break the published schema. */
export async function startWrongServer(): Promise<{ url: string; close(): void }> {
  const http = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { id, method = "" } = JSON.parse(body === "" ? "{}" : body) as { id?: number; method?: string };
    if (id === undefined) return response.writeHead(request.method === "POST" ? 202 : 405).end();
    const result = RESULTS[method];
    const answer = result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
    return response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  // A server that listens on TCP has an address object.
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const close = () => {
    http.closeAllConnections();
    http.close();
  };
  return { url, close };
}
