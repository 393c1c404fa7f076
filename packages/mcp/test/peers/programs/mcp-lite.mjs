// mcp-lite over HTTP, without sessions or with them.
import { getRequestListener } from "@hono/node-server";
import { InMemorySessionAdapter, McpServer, StreamableHttpTransport } from "mcp-lite";
import { z } from "zod";
import { listen } from "../../../../../benchmarks/rounds.mjs";

const server = new McpServer({
  name: "bench",
  version: "1.0.0",
  schemaAdapter: (schema) => z.toJSONSchema(schema),
});
server.tool("add", {
  description: "Adds two numbers",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  handler: ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
});
const options =
  process.argv[2] === "sessions" ? { sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1024 }) } : {};

listen(getRequestListener(new StreamableHttpTransport(options).bind(server)));
