// Runs inside the instrumented bundle: one warm client and one warm server in this process, a few calls recorded.
// The recorder stands first: sources call it from the moment they are evaluated.

import "./recorder.js";

import { connect, Server } from "../../src/index.js";
import { serveHttp } from "../../src/node.js";
import { WALK_REVISIONS } from "./bounds.js";
import { recorder, type WalkEvent } from "./recorder.js";
import { HANDLER } from "./trace.js";

const WARM_CALLS = 20;
const RECORDED_CALLS = 7;

const revision = WALK_REVISIONS.find((known) => known === process.argv[2]);
if (revision === undefined) throw new Error(`name one of ${WALK_REVISIONS.join(", ")}`);
const server = new Server({ name: "weather", version: "1.0.0" }).tool(
  "forecast",
  {
    input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    output: { type: "object", properties: { tempC: { type: "number" } }, required: ["tempC"] },
  },
  async ({ city }: { city: string }) => {
    recorder.note(HANDLER, "forecast");
    return { tempC: city.length };
  },
);
const serving = await serveHttp(server, { port: 0 });
const client = await connect(serving.url, { revisions: [revision] });
await client.allTools();
for (let call = 0; call < WARM_CALLS; call++) await client.call("forecast", { city: "Oslo" });

const traces: WalkEvent[][] = [];
for (let call = 0; call < RECORDED_CALLS; call++) {
  // What an earlier call left for later turns must not stand in this one's trace.
  await new Promise((resolve) => setTimeout(resolve, 20));
  recorder.start();
  await client.call("forecast", { city: "Bergen" });
  traces.push(recorder.stop());
}
process.stdout.write(JSON.stringify({ revision: client.protocolVersion, traces }));
await client.close();
await serving.close();
