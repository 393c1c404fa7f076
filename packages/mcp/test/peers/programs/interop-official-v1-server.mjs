// A server of the official SDK, first line. Argument: stdio, http or sse.
import { randomUUID } from "node:crypto";
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { MemoryEventStore } from "./interop-event-store.mjs";
import { endWithParent, listen, readJson } from "./interop-listen.mjs";
import { count, FORM, INFO, NOTE, QUESTION, SAMPLE, text, wait, wasCancelled } from "./interop-offer.mjs";

function makeServer() {
  const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
  const server = new McpServer(INFO, {
    capabilities: { resources: { subscribe: true }, tasks },
    taskStore: new InMemoryTaskStore(),
    taskMessageQueue: new InMemoryTaskMessageQueue(),
  });
  const subscribed = new Set();
  const reporter = (extra) => (progress, total) =>
    extra.sendNotification({
      method: "notifications/progress",
      params: { progressToken: extra._meta?.progressToken, progress, total },
    });

  server.registerTool("add", { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => text(a + b));
  server.registerTool("count", { inputSchema: { to: z.number() } }, ({ to }, extra) => count(to, reporter(extra)));
  server.registerTool("ask", { inputSchema: {} }, async (_args, extra) => {
    const params = { message: QUESTION, requestedSchema: FORM };
    const reply = await extra.sendRequest({ method: "elicitation/create", params }, ElicitResultSchema);
    return text(`hello ${reply.content?.name}`);
  });
  server.registerTool("sample", { inputSchema: {} }, async (_args, extra) => {
    const request = { method: "sampling/createMessage", params: SAMPLE };
    return text((await extra.sendRequest(request, CreateMessageResultSchema)).content.text);
  });
  server.registerTool("wait", { inputSchema: { key: z.string() } }, ({ key }, extra) =>
    wait(key, extra.signal, reporter(extra)),
  );
  server.registerTool("cancelled", { inputSchema: { key: z.string() } }, ({ key }) => wasCancelled(key));
  server.registerTool("touch", { inputSchema: {} }, async () => {
    if (subscribed.has(NOTE)) await server.server.sendResourceUpdated({ uri: NOTE });
    return text("touched");
  });
  registerTask(server, "job", async (taskId, extra) => {
    await extra.taskStore.updateTaskStatus(taskId, "input_required");
    const request = { method: "elicitation/create", params: { message: QUESTION, requestedSchema: FORM } };
    const reply = await extra.sendRequest(request, ElicitResultSchema, { relatedTask: { taskId } });
    await extra.taskStore.storeTaskResult(taskId, "completed", text(`hello ${reply.content?.name}`));
  });
  registerTask(server, "stuck", async () => {});
  server.registerResource("note", NOTE, {}, () => ({ contents: [{ uri: NOTE, text: "a note" }] }));
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  return server;
}

/** A tool that runs as a task only; `work` ends the task. */
function registerTask(server, name, work) {
  server.experimental.tasks.registerToolTask(
    name,
    { inputSchema: {}, execution: { taskSupport: "required" } },
    {
      async createTask(_args, extra) {
        const task = await extra.taskStore.createTask({ ttl: 60_000, pollInterval: 50 });
        setTimeout(() => work(task.taskId, extra).catch(console.error), 20);
        return { task };
      },
      getTask: (_args, extra) => extra.taskStore.getTask(extra.taskId),
      getTaskResult: (_args, extra) => extra.taskStore.getTaskResult(extra.taskId),
    },
  );
}

const sessions = new Map();

async function http(request, response) {
  const known = sessions.get(request.headers["mcp-session-id"]);
  if (known !== undefined) return known.handleRequest(request, response);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    eventStore: new MemoryEventStore(),
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await makeServer().connect(transport);
  await transport.handleRequest(request, response);
}

async function sse(request, response) {
  if (request.method === "GET") {
    const transport = new SSEServerTransport("/messages", response);
    sessions.set(transport.sessionId, transport);
    return makeServer().connect(transport);
  }
  const id = new URL(request.url, "http://localhost").searchParams.get("sessionId");
  const known = sessions.get(id);
  if (known === undefined) return response.writeHead(405).end();
  await known.handlePostMessage(request, response, await readJson(request));
}

const roles = {
  async stdio() {
    await makeServer().connect(new StdioServerTransport());
    endWithParent();
  },
  http: () => listen(http),
  sse: () => listen(sse),
};
await roles[process.argv[2]]();
