// A server of the official SDK, second line, both eras. Argument: stdio or http.
import { randomUUID } from "node:crypto";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  inputResponse,
  isLegacyRequest,
  McpServer,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { MemoryEventStore } from "./interop-event-store.mjs";
import { listen, readJson } from "./interop-listen.mjs";
import { count, FORM, INFO, NOTE, QUESTION, SAMPLE, text, wait, wasCancelled } from "./interop-offer.mjs";

let modern;

function makeServer() {
  const server = new McpServer(INFO, { capabilities: { resources: { subscribe: true } } });
  const subscribed = new Set();
  const reporter = (ctx) => (progress, total) =>
    ctx.mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken: ctx.mcpReq._meta?.progressToken, progress, total },
    });
  const key = z.object({ key: z.string() });

  server.registerTool("add", { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => text(a + b));
  server.registerTool("count", { inputSchema: z.object({ to: z.number() }) }, ({ to }, ctx) =>
    count(to, reporter(ctx)),
  );
  server.registerTool("ask", { inputSchema: z.object({}) }, (_args, ctx) => {
    const accepted = acceptedContent(ctx.mcpReq.inputResponses, "who");
    if (accepted !== undefined) return text(`hello ${accepted.name}`);
    const who = inputRequired.elicit({ message: QUESTION, requestedSchema: FORM });
    return inputRequired({ inputRequests: { who } });
  });
  server.registerTool("sample", { inputSchema: z.object({}) }, (_args, ctx) => {
    const reply = inputResponse(ctx.mcpReq.inputResponses, "words");
    if (reply.kind === "sampling") return text(reply.result.content.text);
    return inputRequired({ inputRequests: { words: inputRequired.createMessage(SAMPLE) } });
  });
  server.registerTool("wait", { inputSchema: key }, (args, ctx) => wait(args.key, ctx.mcpReq.signal, reporter(ctx)));
  server.registerTool("cancelled", { inputSchema: key }, (args) => wasCancelled(args.key));
  server.registerTool("touch", { inputSchema: z.object({}) }, async (_args, ctx) => {
    // Over HTTP each request of the newer era has a server of its own, and only the handler knows who listens.
    if (ctx.http !== undefined && !subscribed.has(NOTE)) modern.notify.resourceUpdated(NOTE);
    else await server.server.sendResourceUpdated({ uri: NOTE });
    return text("touched");
  });
  server.registerResource("note", NOTE, {}, () => ({ contents: [{ uri: NOTE, text: "a note" }] }));
  server.server.setRequestHandler("resources/subscribe", ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  return server;
}

const sessions = new Map();

async function legacy(request, response, body) {
  const known = sessions.get(request.headers["mcp-session-id"]);
  if (known !== undefined) return known.handleRequest(request, response, body);
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    eventStore: new MemoryEventStore(),
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await makeServer().connect(transport);
  await transport.handleRequest(request, response, body);
}

if (process.argv[2] === "stdio") serveStdio(makeServer);
else {
  modern = createMcpHandler(makeServer, { legacy: "reject" });
  const serveModern = toNodeHandler(modern);
  listen(async (request, response) => {
    if (request.method !== "POST") return legacy(request, response);
    const body = await readJson(request);
    const older = await isLegacyRequest(await toWebRequest(request, body), body);
    return older ? legacy(request, response, body) : serveModern(request, response, body);
  });
}
