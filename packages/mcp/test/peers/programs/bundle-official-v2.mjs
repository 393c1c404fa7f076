import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

export default createMcpHandler(() => {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  const definition = { description: "Adds two numbers", inputSchema: z.object({ a: z.number(), b: z.number() }) };
  server.registerTool("add", definition, ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));
  return server;
});
