import * as api from "@opentelemetry/api";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { telemetry } from "@parley/mcp/telemetry";
import { startSdk } from "./otel-sdk.js";

// Serves over HTTP, prints its URL, and prints its spans when it is sent a line.
const sdk = startSdk();
const server = new Server({ name: "elsewhere", version: "1.0.0" }).tool("forecast", async () => {
  await new Promise((resolve) => setImmediate(resolve));
  api.trace.getTracer("application").startSpan("query").end();
  return "sunny";
});
server.observe(telemetry(api));
const handle = await serveHttp(server, { port: 0 });
console.log(handle.url);
process.stdin.once("data", async () => {
  const spans = sdk.spans().map((span) => {
    const { traceId, spanId } = span.spanContext();
    return { name: span.name, kind: span.kind, traceId, spanId, parent: span.parentSpanContext?.spanId };
  });
  console.log(JSON.stringify(spans));
  await handle.close();
  process.exit();
});
