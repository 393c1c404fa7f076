// Uses servers behind a gateway with the official client, in one era, and prints what it got as JSON.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const { url, mode, file } = JSON.parse(process.argv[2]);
const client = new Client(
  { name: "gateway-user", version: "1.0.0" },
  { capabilities: {}, versionNegotiation: { mode: mode === "stateful" ? "legacy" : { pin: "2026-07-28" } } },
);
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

const text = (result) => JSON.stringify(result.content);
const { tools } = await client.listTools();
const call = (name, args = {}, options = undefined) => client.callTool({ name, arguments: args }, options);

let progress = 0;
const onprogress = () => {
  progress++;
};
await call("everything__trigger-long-running-operation", { duration: 1, steps: 4 }, { onprogress });

console.log(
  JSON.stringify({
    version: client.getNegotiatedProtocolVersion(),
    tools: tools.length,
    echo: text(await call("everything__echo", { message: "hi there" })),
    file: text(await call("filesystem__read_text_file", { path: file })),
    graph: text(await call("memory__read_graph")),
    thought: text(
      await call("thinking__sequentialthinking", {
        thought: "first",
        nextThoughtNeeded: false,
        thoughtNumber: 1,
        totalThoughts: 1,
      }),
    ),
    progress: progress > 0,
    unknown: await call("nothing__here").then(
      () => undefined,
      (error) => error.code,
    ),
  }),
);
await client.close();
process.exit(0);
