// tmcp over HTTP or stdio.
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { McpServer } from "tmcp";
import { z } from "zod";
import { listen } from "../../../../../benchmarks/rounds.mjs";

const server = new McpServer(
  { name: "bench", version: "1.0.0", description: "Adds two numbers" },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } },
);
server.tool(
  { name: "add", description: "Adds two numbers", schema: z.object({ a: z.number(), b: z.number() }) },
  ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
);

if (process.argv[2] === "stdio") {
  const { StdioTransport } = await import("@tmcp/transport-stdio");
  new StdioTransport(server).listen();
} else {
  const { getRequestListener } = await import("@hono/node-server");
  const { HttpTransport } = await import("@tmcp/transport-http");
  const transport = new HttpTransport(server, { path: "/mcp" });
  listen(
    getRequestListener(async (request) => (await transport.respond(request)) ?? new Response("", { status: 404 })),
  );
}
