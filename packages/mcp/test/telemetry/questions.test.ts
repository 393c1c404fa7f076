import * as api from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { startHost } from "../../src/host.js";
import { type ClientOptions, connect, McpError, Server } from "../../src/index.js";
import { serveHttp } from "../../src/node.js";
import { telemetry } from "../../src/telemetry.js";
import { startSdk, treeOf } from "./otel-sdk.js";

const sdk = startSdk();
const observed = telemetry(api);
const tracer = api.trace.getTracer("application");
const revision = "2025-11-25";
const form = { type: "object", properties: { size: { type: "string" } }, required: ["size"] } as const;

/** A server whose tools ask. */
function shop(): Server {
  const server = new Server({ name: "shop", version: "1.0.0" }, { revisions: [revision], onError: () => {} });
  server.tool("order", async (_args, ctx) => {
    await ctx.elicit("a secret question", form);
    return "ordered";
  });
  server.tool("survey", async (_args, ctx) => {
    await ctx.sample({
      messages: [{ role: "user", content: { type: "text", text: "a secret prompt" } }],
      maxTokens: 10,
    });
    await tracer.startActiveSpan("look", async (span) => {
      await ctx.roots();
      span.end();
    });
    return "done";
  });
  return server;
}

const answering: ClientOptions = {
  revisions: [revision],
  onElicit: async () => {
    await new Promise((resolve) => setImmediate(resolve));
    tracer.startSpan("form").end();
    return { action: "accept", content: { size: "a secret answer" } };
  },
  onSample: () => ({ role: "assistant", model: "m", content: { type: "text", text: "a secret answer" } }),
  roots: [],
};

/** The spans of one call of a tool, when its name is known. */
async function spansOf(target: Parameters<typeof connect>[0], tool: string, options: ClientOptions = {}) {
  await using client = await connect(target, { ...answering, observe: observed, ...options });
  await client.tryCall(tool);
  sdk.spans();
  await client.tryCall(tool);
  return sdk.spans();
}

const ORDER = {
  "CLIENT tools/call order": [
    {
      "SERVER tools/call order": [
        { "CLIENT elicitation/create": [{ "SERVER elicitation/create": ["INTERNAL form"] }] },
      ],
    },
  ],
};

describe("questions of a server", () => {
  it.each(["in this process", "over HTTP"])("are in the tree of the call %s", async (where) => {
    const server = shop();
    server.observe(observed);
    await using handle = await serveHttp(server, { port: 0 });
    const target = where === "over HTTP" ? handle.url : server;
    const spans = await spansOf(target, "order");
    expect(treeOf(spans)).toEqual([ORDER]);
    const asked = spans.filter((span) => span.name === "elicitation/create");
    const common = { "mcp.method.name": "elicitation/create", "mcp.protocol.version": revision };
    const http = { "network.transport": "tcp", "network.protocol.name": "http", "mcp.session.id": expect.any(String) };
    const [client, answer] = asked.map(({ attributes }) => attributes);
    const id = { "jsonrpc.request.id": client?.["jsonrpc.request.id"] };
    expect(id["jsonrpc.request.id"]).toEqual(expect.any(String));
    expect(client).toEqual({ ...common, ...id, ...(where === "over HTTP" ? http : {}) });
    expect(answer).toEqual(client);
    expect(JSON.stringify(spans.map(({ attributes, events }) => [attributes, events]))).not.toContain("secret");
    const own = (point: { attributes: object }) => Object.values(point.attributes).includes("elicitation/create");
    expect((await sdk.points("mcp.client.operation.duration")).some(own)).toBe(true);
    expect((await sdk.points("mcp.server.operation.duration")).some(own)).toBe(true);
  });

  it("nest below the spans of the handler", async () => {
    const server = shop();
    server.observe(observed);
    expect(treeOf(await spansOf(server, "survey"))).toEqual([
      {
        "CLIENT tools/call survey": [
          {
            "SERVER tools/call survey": [
              { "CLIENT sampling/createMessage": ["SERVER sampling/createMessage"] },
              { "INTERNAL look": [{ "CLIENT roots/list": ["SERVER roots/list"] }] },
            ],
          },
        ],
      },
    ]);
  });

  it("are one tree through a gateway", async () => {
    const server = shop();
    server.observe(observed);
    await using inner = await serveHttp(server, { port: 0 });
    const client: ClientOptions = { revisions: [revision], observe: observed };
    await using host = await startHost({ servers: { shop: { url: inner.url, isolation: "client" } }, client });
    const gateway = host.asServer({ server: { revisions: [revision] } });
    gateway.observe(observed);
    const inwards = { "CLIENT elicitation/create": ["SERVER elicitation/create"] };
    const outwards = { "CLIENT elicitation/create": [{ "SERVER elicitation/create": ["INTERNAL form"] }] };
    // The gateway asks for its own call, which is where its question belongs.
    const passed = [{ "CLIENT tools/call order": [{ "SERVER tools/call order": [inwards] }] }, outwards];
    expect(treeOf(await spansOf(gateway, "shop__order"))).toEqual([
      { "CLIENT tools/call shop__order": [{ "SERVER tools/call shop__order": passed }] },
    ]);
  });

  it("continue where only one side is observed", async () => {
    const server = shop();
    const spans = await spansOf(server, "order");
    // The server passes on the caller's trace.
    expect(treeOf(spans)).toEqual([
      { "CLIENT tools/call order": [{ "SERVER elicitation/create": ["INTERNAL form"] }] },
    ]);
    server.observe(observed);
    expect(treeOf(await spansOf(server, "order", { observe: [] }))).toEqual([
      { "SERVER tools/call order": [{ "CLIENT elicitation/create": ["INTERNAL form"] }] },
    ]);
  });

  it("say how they failed", async () => {
    const server = shop();
    server.observe(observed);
    const onSample = () => {
      throw new McpError("declined", "a secret reason");
    };
    const spans = await spansOf(server, "survey", { onSample });
    const [asked, answered] = spans.filter((span) => span.name === "sampling/createMessage");
    for (const span of [asked, answered]) {
      expect(span?.attributes).toMatchObject({ "error.type": "-1", "rpc.response.status_code": "-1" });
      expect(span?.status.code).toBe(api.SpanStatusCode.ERROR);
    }
  });

  it("end with the call that is cancelled", async () => {
    const server = shop();
    server.observe(observed);
    const controller = new AbortController();
    let ended: Promise<{ action: "cancel" }> | undefined;
    const onElicit: ClientOptions["onElicit"] = (_question, { signal }) => {
      ended = new Promise((resolve) => signal.addEventListener("abort", () => resolve({ action: "cancel" })));
      controller.abort();
      return ended;
    };
    {
      await using client = await connect(server, { ...answering, onElicit, observe: observed });
      await client.tryCall("order", {}, { signal: controller.signal });
      await ended;
    }
    const asked = sdk.spans().filter((span) => span.name === "elicitation/create");
    expect(asked.map(({ attributes }) => attributes["error.type"])).toEqual(["cancelled", "cancelled"]);
  });
});
