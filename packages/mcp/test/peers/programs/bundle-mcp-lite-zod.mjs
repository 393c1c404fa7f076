import { McpServer, StreamableHttpTransport } from "mcp-lite";
import { z } from "zod";

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

export default { fetch: new StreamableHttpTransport().bind(server) };
