import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { connect } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { prometheusMetrics, telemetry } from "@parley/mcp/telemetry";
import { answerRounds, listening, repeat } from "../rounds.mjs";
import { parleyServer } from "./parley-server.js";

// `off`: the entry is loaded, and nothing is observed. `on`: the SDK with batches that an exporter throws away.
const [mode = "off", transport = "http"] = process.argv.slice(2);
const server = parleyServer();
if (mode === "on") {
  const exporter = {
    export: (_spans: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
    shutdown: async () => {},
  };
  const spanProcessors = [new BatchSpanProcessor(exporter, { maxQueueSize: 65_536, maxExportBatchSize: 4096 })];
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
  api.metrics.setGlobalMeterProvider(new MeterProvider());
  server.observe(telemetry(api));
}
if (mode === "prometheus") server.observe(prometheusMetrics());

if (transport === "http") {
  const { url } = await serveHttp(server, { port: 0 });
  listening(url);
} else {
  const client = await connect(server);
  answerRounds((ms) => repeat(ms, () => client.call("add", { a: 1, b: 2 })));
}
