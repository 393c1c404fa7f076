// A server of fastmcp. Argument: stdio or http.
import { createServer } from "node:net";
import { FastMCP } from "fastmcp";
import { z } from "zod";
import { MemoryEventStore } from "./interop-event-store.mjs";
import { endWithParent } from "./interop-listen.mjs";
import { count, FORM, NOTE, QUESTION, SAMPLE, text, wait, wasCancelled } from "./interop-offer.mjs";

const server = new FastMCP({ name: "interop", version: "1.0.0", ping: { enabled: false } });
const tool = (name, execute, parameters = z.object({})) =>
  server.addTool({ name, description: name, parameters, execute });
const reporter = (ctx) => (progress, total) => ctx.reportProgress({ progress, total });
const key = z.object({ key: z.string() });

tool("add", async ({ a, b }) => text(a + b), z.object({ a: z.number(), b: z.number() }));
tool("count", ({ to }, ctx) => count(to, reporter(ctx)), z.object({ to: z.number() }));
tool("ask", async (_args, ctx) => {
  const reply = await ctx.elicit({ message: QUESTION, requestedSchema: FORM });
  return text(`hello ${reply.content?.name}`);
});
tool("sample", async (_args, ctx) => {
  const session = await sessionOf(ctx);
  return text((await session.requestSampling(SAMPLE)).content.text);
});
tool("wait", (args, ctx) => wait(args.key, ctx.signal, reporter(ctx)), key);
tool("cancelled", async (args) => wasCancelled(args.key), key);
tool("touch", async () => {
  await server.sendResourceUpdated(NOTE);
  return text("touched");
});
server.addResource({ uri: NOTE, name: "note", mimeType: "text/plain", load: async () => ({ text: "a note" }) });

if (process.argv[2] === "stdio") await server.start({ transportType: "stdio" });
else {
  const port = await freePort();
  await server.start({
    transportType: "httpStream",
    httpStream: { port, host: "127.0.0.1", endpoint: "/mcp", eventStore: new MemoryEventStore() },
  });
  console.log(`http://127.0.0.1:${port}/mcp`);
}
endWithParent();

/** It lists a session some time after it has begun to serve it. */
async function sessionOf({ sessionId }) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const session = server.sessions.find((one) => one.sessionId === sessionId) ?? server.sessions[0];
    if (session !== undefined) return session;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("there is no session");
}

/** It cannot be asked to pick one itself. */
function freePort() {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
