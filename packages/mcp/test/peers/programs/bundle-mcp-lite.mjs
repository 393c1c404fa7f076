import { McpServer, StreamableHttpTransport } from "mcp-lite";

const server = new McpServer({ name: "bench", version: "1.0.0" });
server.tool("add", {
  description: "Adds two numbers",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  handler: ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
});

export default { fetch: new StreamableHttpTransport().bind(server) };
