// The client of the official SDK, second line, in the era that the revision belongs to.
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { CAPABILITIES, ELICITED, INFO, runClient, SAMPLED, transportTo } from "./interop-client.mjs";

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
    close: () => client.close(),
  };
});
