import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";

const numbers = fromJsonSchema({
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
});

export default createMcpHandler(() => {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  const definition = { description: "Adds two numbers", inputSchema: numbers };
  server.registerTool("add", definition, ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));
  return server;
});
