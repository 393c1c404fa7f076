import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { HttpTransport } from "@tmcp/transport-http";
import { McpServer } from "tmcp";
import { z } from "zod";

const server = new McpServer(
  { name: "bench", version: "1.0.0", description: "Adds two numbers" },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } },
);
server.tool(
  { name: "add", description: "Adds two numbers", schema: z.object({ a: z.number(), b: z.number() }) },
  ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
);
const transport = new HttpTransport(server, { path: "/mcp" });

export default { fetch: (request) => transport.respond(request) };
