// A server of mcp-lite, over HTTP with sessions; it has no other transport.
import { getRequestListener } from "@hono/node-server";
import { InMemoryClientRequestAdapter, InMemorySessionAdapter, McpServer, StreamableHttpTransport } from "mcp-lite";
import { z } from "zod";
import { listen } from "./interop-listen.mjs";
import { count, FORM, INFO, NOTE, QUESTION, text } from "./interop-offer.mjs";

const server = new McpServer({ ...INFO, schemaAdapter: (schema) => z.toJSONSchema(schema) });
const numbers = z.object({ a: z.number(), b: z.number() });

server.tool("add", { inputSchema: numbers, handler: ({ a, b }) => text(a + b) });
server.tool("count", {
  inputSchema: z.object({ to: z.number() }),
  handler: ({ to }, ctx) => count(to, (progress, total) => ctx.progress?.({ progress, total })),
});
server.tool("ask", {
  inputSchema: z.object({}),
  handler: async (_args, ctx) => {
    const reply = await ctx.elicit({ message: QUESTION, schema: FORM });
    return text(`hello ${reply.content?.name}`);
  },
});
server.tool("sample", {
  inputSchema: z.object({}),
  handler: async (_args, ctx) => text((await ctx.sample({ prompt: "Say hello", maxTokens: 10 })).content.text),
});
let more = 0;
server.tool("grow", {
  inputSchema: z.object({}),
  handler: () => {
    more += 1;
    server.tool(`grown-${more}`, { inputSchema: z.object({}), handler: () => text(more) });
    return text("grown");
  },
});
server.resource(NOTE, { name: "note" }, async () => ({ contents: [{ uri: NOTE, text: "a note" }] }));

const transport = new StreamableHttpTransport({
  sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1024 }),
  clientRequestAdapter: new InMemoryClientRequestAdapter({ defaultTimeoutMs: 10_000 }),
});
listen(getRequestListener(transport.bind(server)));
