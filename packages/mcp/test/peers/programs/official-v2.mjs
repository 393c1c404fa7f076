// The official SDK, second line, in the role that the first argument names.
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answerRounds, inFlight, listen, repeat } from "../../../../../benchmarks/rounds.mjs";
import { callRequest, listRequest } from "./fetch-request.mjs";

const numbers = z.object({ a: z.number(), b: z.number() });

/** The tool that adds, which reports progress before it answers. */
function makeSteps() {
  const server = new McpServer({ name: "bench", version: "1.0.0" }, { capabilities: { tools: {} } });
  const definition = { description: "Adds two numbers", inputSchema: numbers };
  server.registerTool("add", definition, async ({ a, b }, ctx) => {
    const params = { progressToken: ctx.mcpReq._meta?.progressToken, progress: 1, total: 2 };
    await ctx.mcpReq.notify({ method: "notifications/progress", params });
    return { content: [{ type: "text", text: String(a + b) }] };
  });
  return server;
}

function makeServer(tools = 1) {
  const server = new McpServer({ name: "bench", version: "1.0.0" }, { capabilities: { tools: {} } });
  const add = ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] });
  server.registerTool("add", { description: "Adds two numbers", inputSchema: numbers }, add);
  for (let at = 1; at < tools; at++) {
    server.registerTool(`tool-${at}`, { description: `Tool number ${at}`, inputSchema: numbers }, add);
  }
  return server;
}

const roles = {
  async http(kind) {
    const { createMcpHandler } = await import("@modelcontextprotocol/server");
    const { toNodeHandler } = await import("@modelcontextprotocol/node");
    const make = kind === "steps" ? makeSteps : makeServer;
    listen(toNodeHandler(createMcpHandler(() => make(), { maxSubscriptions: 100_000 })));
  },
  async stdio() {
    const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
    serveStdio(() => makeServer());
  },
  async memory() {
    const { InMemoryTransport } = await import("@modelcontextprotocol/server");
    const { Client } = await import("@modelcontextprotocol/client");
    const [here, there] = InMemoryTransport.createLinkedPair();
    await makeServer().connect(there);
    const client = new Client({ name: "bench", version: "1.0.0" });
    await client.connect(here);
    answerRounds((ms) => repeat(ms, () => client.callTool({ name: "add", arguments: { a: 1, b: 2 } })));
  },
  async client(url) {
    const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const client = new Client({ name: "bench", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    answerRounds((ms) => inFlight(ms, 16, () => client.callTool({ name: "add", arguments: { a: 1, b: 2 } })));
  },
  async fetch(method, tools) {
    const { createMcpHandler } = await import("@modelcontextprotocol/server");
    const handler = createMcpHandler(() => makeServer(Number(tools)));
    const make = method === "call" ? callRequest : listRequest;
    answerRounds((ms) => repeat(ms, async () => (await handler.fetch(make())).text()));
  },
};

// A client is given the address before its role.
const words = process.argv.slice(2);
if (words[0]?.startsWith("http:")) await roles.client(words[0]);
else await roles[words[0]](...words.slice(1));
