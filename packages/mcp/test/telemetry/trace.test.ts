import * as api from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { startHost } from "../../src/host.js";
import { connect, Server } from "../../src/index.js";
import { serveHttp } from "../../src/node.js";
import { telemetry } from "../../src/telemetry.js";
import { startSdk, treeOf } from "./otel-sdk.js";

const sdk = startSdk();
const observed = telemetry(api);
const tracer = api.trace.getTracer("application");

/** A server whose tool makes a span of its own after an await. */
function weather(): Server {
  const server = new Server({ name: "weather", version: "1.0.0" });
  server.tool("forecast", { input: { type: "object", properties: { city: { type: "string" } } } }, async () => {
    await new Promise((resolve) => setImmediate(resolve));
    tracer.startSpan("query").end();
    return "sunny";
  });
  server.observe(observed);
  return server;
}

const ERAS = ["2025-11-25", "2026-07-28"] as const;

describe.each(ERAS)("a trace in %s", (revision) => {
  const options = { revisions: [revision], observe: observed };

  it("is one tree from the application through client, gateway and server to the tool", async () => {
    await using inner = await serveHttp(weather(), { port: 0 });
    await using host = await startHost({ servers: { weather: { url: inner.url } }, client: options });
    const gateway = host.asServer({ server: { revisions: [revision] } });
    gateway.observe(observed);
    await using outer = await serveHttp(gateway, { port: 0 });
    await using client = await connect(outer.url, options);
    const name = (await client.allTools())[0]?.name ?? "";
    await client.call(name);
    sdk.spans();
    await tracer.startActiveSpan("agent", async (span) => {
      await client.call(name);
      span.end();
    });
    const spans = sdk.spans();
    expect(treeOf(spans)).toEqual([
      {
        "INTERNAL agent": [
          {
            [`CLIENT tools/call ${name}`]: [
              {
                [`SERVER tools/call ${name}`]: [
                  { "CLIENT tools/call forecast": [{ "SERVER tools/call forecast": ["INTERNAL query"] }] },
                ],
              },
            ],
          },
        ],
      },
    ]);
    expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
  });
});
