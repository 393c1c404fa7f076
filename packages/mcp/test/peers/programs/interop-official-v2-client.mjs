// The client of the official SDK, second line, in the era that the revision belongs to.
import assert from "node:assert/strict";
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  toolDeclarationFromMcpTool,
} from "@modelcontextprotocol/ext-tasks/client";
import { CAPABILITIES, ELICITED, INFO, runClient, SAMPLED, transportTo } from "./interop-client.mjs";

let lastId = 0;
const TRANSPORTS = { StdioClientTransport, SSEClientTransport, StreamableHTTPClientTransport };

await runClient(async (place, { fetch, revision }) => {
  const modern = revision >= "2026";
  const client = new Client(INFO, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: modern ? "auto" : "legacy" },
  });
  client.setRequestHandler("elicitation/create", () => ELICITED);
  client.setRequestHandler("sampling/createMessage", () => SAMPLED);
  await client.connect(transportTo(place, fetch, TRANSPORTS));
  return {
    version: client.getNegotiatedProtocolVersion(),
    list: async () => (await client.listTools()).tools,
    call: (name, args, { onProgress, signal } = {}) =>
      client.callTool({ name, arguments: args }, { onprogress: onProgress, signal }),
    async subscribe(uri, heard) {
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => heard(params.uri));
      if (modern) await client.listen({ resourceSubscriptions: [uri] });
      else await client.subscribeResource({ uri });
    },
    tasks: async () => sessionWithTasks(client, place, modern),
    close: () => client.close(),
  };
});

/** Tasks by the extension package, which lets its host send what the SDK has no codec for. */
async function sessionWithTasks(client, place, modern) {
  const declared = new Map(
    (await client.listTools()).tools.map((tool) => [tool.name, toolDeclarationFromMcpTool(tool)]),
  );
  // The package correlates questions with tasks by itself, if nobody else answers them first.
  client.removeRequestHandler("elicitation/create");
  const framing = { protocolVersion: "2026-07-28", clientInfo: INFO, clientCapabilities: CAPABILITIES };
  const session = createTaskSessionFromClient(client, {
    endpointId: "interop",
    tools: { currentTool: (name) => declared.get(name) },
    onInputRequest: async () => ELICITED,
    ...(modern && { rawDispatch: (request) => post(place.url, request), v2RequestFraming: framing }),
  });
  const begin = async (name) => {
    const execution = await session.callTool(name, {}, { task: { preference: "require" } });
    assert.equal(execution.kind, "task");
    return execution;
  };
  return {
    run: async (name) => resultFromTaskOutcome((await (await begin(name)).settle()).outcome),
    async cancel(name) {
      const execution = await begin(name);
      const settled = execution.settle();
      await execution.cancel();
      return (await settled).outcome.status;
    },
  };
}

/** One request of the stateless era over HTTP. */
async function post(url, { method, params }) {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    "mcp-name": params.taskId ?? params.name,
  };
  const id = `raw-${++lastId}`;
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const response = await fetch(url, { method: "POST", headers, body });
  const text = await response.text();
  const data = text.startsWith("{") ? text : /^data: (.*)$/m.exec(text)?.[1];
  const { result, error } = JSON.parse(data);
  return error === undefined ? { kind: "result", result } : { kind: "error", error };
}
