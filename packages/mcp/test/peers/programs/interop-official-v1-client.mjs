// The client of the official SDK, first line.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
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
    close: () => client.close(),
  };
});
