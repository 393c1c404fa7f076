// A server of tmcp, both eras. Argument: stdio or http.
import { getRequestListener } from "@hono/node-server";
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { HttpTransport } from "@tmcp/transport-http";
import { StdioTransport } from "@tmcp/transport-stdio";
import { McpServer } from "tmcp";
import { z } from "zod";
import { listen } from "./interop-listen.mjs";
import { count, INFO, NOTE, QUESTION, SAMPLE, text, wait, wasCancelled } from "./interop-offer.mjs";

const server = new McpServer(
  { ...INFO, description: "Talks to others" },
  {
    adapter: new ZodJsonSchemaAdapter(),
    capabilities: { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true } },
  },
);
// In the newer era it asks only in handlers that are marked as safe to run again.
const describe = (name, schema = z.object({})) => ({ name, description: name, schema, replayable: true });
const report = async (progress, total) => server.progress(progress, total);
const key = z.object({ key: z.string() });

server.tool(describe("add", z.object({ a: z.number(), b: z.number() })), ({ a, b }) => text(a + b));
server.tool(describe("count", z.object({ to: z.number() })), ({ to }) => count(to, report));
server.tool(describe("ask"), async () => {
  const reply = await server.elicitation(QUESTION, z.object({ name: z.string() }));
  return text(`hello ${reply.content?.name}`);
});
server.tool(describe("sample"), async () => text((await server.message(SAMPLE)).content.text));
server.tool(describe("wait", key), (args) => wait(args.key, server.ctx.signal, report));
server.tool(describe("cancelled", key), (args) => wasCancelled(args.key));
server.tool(describe("touch"), () => {
  server.changed("resource", NOTE);
  return text("touched");
});
server.resource({ name: "note", description: "A note", uri: NOTE }, () => ({
  contents: [{ uri: NOTE, text: "a note" }],
}));

if (process.argv[2] === "stdio") new StdioTransport(server).listen();
else {
  const transport = new HttpTransport(server, { path: "/mcp" });
  listen(
    getRequestListener(async (request) => (await transport.respond(request)) ?? new Response("", { status: 404 })),
  );
}
