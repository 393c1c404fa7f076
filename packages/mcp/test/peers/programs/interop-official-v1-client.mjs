// The client of the official SDK, first line.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { CAPABILITIES, ELICITED, INFO, runClient, SAMPLED, transportTo } from "./interop-client.mjs";

const TRANSPORTS = { StdioClientTransport, SSEClientTransport, StreamableHTTPClientTransport };

await runClient(async (place, { fetch }) => {
  const client = new Client(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, () => ELICITED);
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED);
  const transport = transportTo(place, fetch, TRANSPORTS);
  let version;
  // The SDK keeps the negotiated revision to itself, and tells it to its transport only.
  transport.setProtocolVersion = ((own) => (told) => {
    version = told;
    own?.call(transport, told);
  })(transport.setProtocolVersion);
  await client.connect(transport);
  return {
    version,
    list: async () => (await client.listTools()).tools,
    call: (name, args, { onProgress, signal } = {}) =>
      client.callTool({ name, arguments: args }, undefined, { onprogress: onProgress, signal }),
    async subscribe(uri, heard) {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => heard(params.uri));
      await client.subscribeResource({ uri });
    },
    tasks: async () => ({
      async run(name) {
        const seen = [];
        const own = client.experimental.tasks;
        for await (const message of own.callToolStream({ name, arguments: {} }, undefined, { task: { ttl: 60_000 } })) {
          seen.push(message);
        }
        assert.equal(seen[0]?.type, "taskCreated");
        const last = seen.at(-1);
        if (last.type === "error") throw last.error;
        const { tasks } = await own.listTasks();
        assert.ok(tasks.some(({ taskId }) => taskId === seen[0].task.taskId));
        return last.result;
      },
      async cancel(name) {
        const params = { name, arguments: {}, task: {} };
        const { task } = await client.request({ method: "tools/call", params }, CreateTaskResultSchema);
        await client.experimental.tasks.cancelTask(task.taskId);
        return (await client.experimental.tasks.getTask(task.taskId)).status;
      },
    }),
    close: () => client.close(),
  };
});
