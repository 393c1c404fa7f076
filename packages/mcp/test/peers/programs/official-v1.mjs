// The official SDK, first line, in the role that the first argument names.
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { answerRounds, inFlight, listen, repeat } from "../../../../../benchmarks/rounds.mjs";

const numbers = { a: z.number(), b: z.number() };

function makeServer() {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  server.registerTool("add", { description: "Adds two numbers", inputSchema: numbers }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }));
  return server;
}

const roles = {
  /** A server and a transport for each session, as its documentation does. */
  async sessions() {
    const { StreamableHTTPServerTransport } = await import("@modelcontextprotocol/sdk/server/streamableHttp.js");
    const transports = new Map();
    listen(async (request, response) => {
      const known = transports.get(request.headers["mcp-session-id"]);
      if (known !== undefined) return known.handleRequest(request, response);
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        enableJsonResponse: true,
        onsessioninitialized: (id) => transports.set(id, transport),
      });
      await makeServer().connect(transport);
      await transport.handleRequest(request, response);
    });
  },
  /** A server and a transport for each request. */
  async stateless() {
    const { StreamableHTTPServerTransport } = await import("@modelcontextprotocol/sdk/server/streamableHttp.js");
    listen(async (request, response) => {
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
      const server = makeServer();
      response.on("close", () => {
        transport.close();
        server.close();
      });
      await server.connect(transport);
      await transport.handleRequest(request, response);
    });
  },
  async stdio() {
    const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
    await makeServer().connect(new StdioServerTransport());
  },
  async memory() {
    const { InMemoryTransport } = await import("@modelcontextprotocol/sdk/inMemory.js");
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const [here, there] = InMemoryTransport.createLinkedPair();
    await makeServer().connect(there);
    const client = new Client({ name: "bench", version: "1.0.0" });
    await client.connect(here);
    answerRounds((ms) => repeat(ms, () => client.callTool({ name: "add", arguments: { a: 1, b: 2 } })));
  },
  async client(url) {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const client = new Client({ name: "bench", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    answerRounds((ms) => inFlight(ms, 16, () => client.callTool({ name: "add", arguments: { a: 1, b: 2 } })));
  },
};

// A client is given the address before its role.
const words = process.argv.slice(2);
if (words[0]?.startsWith("http:")) await roles.client(words[0]);
else await roles[words[0]](...words.slice(1));
