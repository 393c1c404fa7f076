import * as api from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { describe, expect, it } from "vitest";
import { connect, McpError, Server, ToolError } from "../../src/index.js";
import { serveHttp } from "../../src/node.js";
import { telemetry } from "../../src/telemetry.js";
import { startSdk } from "./otel-sdk.js";

const sdk = startSdk();
const observed = telemetry(api);

/** Attributes that spans of both sides may have by the conventions, without those that are opt-in. */
const SPAN_ATTRIBUTES = new Set([
  "mcp.method.name",
  "mcp.session.id",
  "mcp.protocol.version",
  "mcp.resource.uri",
  "jsonrpc.request.id",
  "gen_ai.tool.name",
  "gen_ai.prompt.name",
  "gen_ai.operation.name",
  "error.type",
  "rpc.response.status_code",
  "network.transport",
  "network.protocol.name",
  "server.address",
  "server.port",
  "client.address",
]);
/** Those that have any number of values, which metrics must not have. */
const SPANS_ONLY = ["mcp.session.id", "mcp.resource.uri", "jsonrpc.request.id", "client.address"];
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

function offering(): Server {
  const server = new Server({ name: "offering", version: "1.0.0" }, { onError: () => {} });
  server.tool("add", { unknownArguments: "ignore" }, () => "a secret result");
  server.tool("odd", () => {
    throw new ToolError("a secret reason");
  });
  server.tool("limited", () => {
    throw new McpError("limit_exceeded", "too much");
  });
  server.prompt("greet", { arguments: { who: {} } }, () => "hello");
  server.resource("docs://guide", {}, () => "text");
  server.observe(observed);
  return server;
}

const both = (spans: readonly ReadableSpan[], name: string) => ({
  client: spans.find((span) => span.name === name && span.kind === api.SpanKind.CLIENT),
  server: spans.find((span) => span.name === name && span.kind === api.SpanKind.SERVER),
});

describe.each(["2025-11-25", "2026-07-28"] as const)("spans over HTTP in %s", (revision) => {
  it("have the names and attributes of the conventions", async () => {
    await using handle = await serveHttp(offering(), { port: 0 });
    const { hostname, port } = new URL(handle.url);
    const client = await connect(handle.url, { revisions: [revision], observe: observed });
    await client.callTool("add", { secret: "argument" });
    await client.getPrompt("greet", { who: "you" });
    await client.readResource("docs://guide");
    await client.close();
    const spans = sdk.spans();
    const common = { "mcp.protocol.version": revision, "network.transport": "tcp", "network.protocol.name": "http" };
    const onClient = { ...common, "server.address": hostname.replace(/^\[|\]$/g, ""), "server.port": Number(port) };
    const tool = {
      "mcp.method.name": "tools/call",
      "gen_ai.tool.name": "add",
      "gen_ai.operation.name": "execute_tool",
    };
    const id = { "jsonrpc.request.id": expect.stringMatching(/^\d+$/) };
    const session = revision === "2025-11-25" ? { "mcp.session.id": expect.stringMatching(/^\S{16,}$/) } : {};
    const called = both(spans, "tools/call add");
    expect(called.client?.attributes).toEqual({ ...onClient, ...tool, ...id, ...session });
    const address = { "client.address": expect.stringMatching(/127\.0\.0\.1|::1/) };
    expect(called.server?.attributes).toEqual({ ...common, ...tool, ...id, ...session, ...address });
    expect(called.server?.attributes["mcp.session.id"]).toBe(called.client?.attributes["mcp.session.id"]);
    const asked = both(spans, "prompts/get greet");
    expect(asked.server?.attributes).toMatchObject({ "gen_ai.prompt.name": "greet" });
    expect(asked.server?.attributes).not.toHaveProperty("gen_ai.operation.name");
    expect(both(spans, "resources/read").client?.attributes["mcp.resource.uri"]).toBe("docs://guide");
    const opening = revision === "2025-11-25" ? "initialize" : "server/discover";
    const opened = both(spans, opening);
    expect(opened.server?.parentSpanContext?.spanId).toBe(opened.client?.spanContext().spanId);
    for (const { attributes, status } of spans) {
      expect(Object.keys(attributes).filter((key) => !SPAN_ATTRIBUTES.has(key))).toEqual([]);
      expect(status.code).toBe(api.SpanStatusCode.UNSET);
    }
    expect(JSON.stringify(spans.map(({ attributes, events }) => [attributes, events]))).not.toContain("secret");
  });
});

describe.each(["2025-11-25", "2026-07-28"] as const)("failures in %s", (revision) => {
  it("are told as the conventions tell them", async () => {
    await using client = await connect(offering(), { revisions: [revision], observe: observed });
    await client.callTool("odd");
    await client.tryCall("limited");
    await client.tryRequest("tools/call", { name: "no such tool" });
    const gone = AbortSignal.abort();
    await client.tryCall("add", {}, { signal: gone });
    const spans = sdk.spans();
    const odd = both(spans, "tools/call odd");
    for (const span of [odd.server, spans.find((one) => one.attributes["gen_ai.tool.name"] === "odd")]) {
      expect(span?.attributes["error.type"]).toBe("tool_error");
      expect(span?.status).toEqual({ code: api.SpanStatusCode.ERROR });
    }
    const limited = spans.filter((span) => span.attributes["gen_ai.tool.name"] === "limited");
    expect(limited).toHaveLength(2);
    const missing = spans.filter((span) => span.attributes["gen_ai.tool.name"] === "no such tool");
    expect(missing.map(({ name }) => name)).toEqual(["tools/call", "tools/call"]);
    const onClient = missing.find(({ kind }) => kind === api.SpanKind.CLIENT);
    const onServer = missing.find(({ kind }) => kind === api.SpanKind.SERVER);
    expect(onClient?.attributes).toMatchObject({ "error.type": "-32602", "rpc.response.status_code": "-32602" });
    expect(onClient?.status.code).toBe(api.SpanStatusCode.ERROR);
    // The caller's fault is no failure of the one who serves.
    expect(onServer?.attributes).toMatchObject({ "rpc.response.status_code": "-32602" });
    expect(onServer?.attributes).not.toHaveProperty("error.type");
    expect(onServer?.status.code).toBe(api.SpanStatusCode.UNSET);
    expect(JSON.stringify(spans.map(({ status }) => status))).not.toContain("secret");
  });
});

describe("metrics", () => {
  it.each(["2025-11-25", "2026-07-28"] as const)("have the instruments of the conventions in %s", async (revision) => {
    const client = await connect(offering(), { revisions: [revision], observe: observed });
    await client.callTool("add");
    await client.callTool("odd");
    for (let at = 0; at < 20; at++) await client.tryRequest("tools/call", { name: `made up ${at}` });
    await client.close();
    for (const side of ["client", "server"]) {
      const points = await sdk.points(`mcp.${side}.operation.duration`);
      const found = points.filter(({ attributes }) => attributes["mcp.protocol.version"] === revision);
      const add = found.find(({ attributes }) => attributes["gen_ai.tool.name"] === "add");
      expect(add?.descriptor).toMatchObject({ unit: "s", advice: { explicitBucketBoundaries: BUCKETS } });
      expect(add?.attributes).toMatchObject({
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
      });
      const keys = new Set(points.flatMap(({ attributes }) => Object.keys(attributes)));
      expect([...keys].filter((key) => !SPAN_ATTRIBUTES.has(key) || SPANS_ONLY.includes(key))).toEqual([]);
      const names = points.map(({ attributes }) => String(attributes["gen_ai.tool.name"]));
      expect(names.filter((name) => name.startsWith("made up"))).toEqual([]);
      const sessions = await sdk.points(`mcp.${side}.session.duration`);
      // A server knows the revision of sessions only; one without them sees connections.
      const ofAny = side === "server" && revision === "2026-07-28" ? undefined : revision;
      expect(sessions.map(({ attributes }) => attributes["mcp.protocol.version"])).toContain(ofAny);
    }
  });
});

describe("the codes of a hostile server", () => {
  it("make a bounded number of series, and the common ones stay what they are", async () => {
    const server = new Server({ name: "hostile", version: "1.0.0" });
    let code = 0;
    server.prompt("greet", {}, () => {
      throw new McpError("internal_error", "no", { code: ++code === 300 ? -32603 : 1000 + code });
    });
    await using client = await connect(server, { observe: telemetry(api, { spans: false }) });
    for (let at = 0; at < 300; at++) await client.tryRequest("prompts/get", { name: "greet" });
    const points = await sdk.points("mcp.client.operation.duration");
    const types = new Set(points.map(({ attributes }) => attributes["error.type"]));
    const codes = new Set(points.map(({ attributes }) => attributes["rpc.response.status_code"]));
    expect(Math.max(types.size, codes.size)).toBeLessThan(150);
    expect([types.has("_OTHER"), codes.has("_OTHER"), types.has("1001"), types.has("-32603")]).not.toContain(false);
  });
});

describe("options", () => {
  it("record arguments and results only if they are asked for", async () => {
    const full = telemetry(api, { content: true, metrics: false });
    const server = new Server({ name: "open", version: "1.0.0" });
    server.tool("add", { unknownArguments: "ignore" }, () => "three");
    server.prompt("greet", { arguments: { who: {} } }, () => "hello");
    server.observe(full);
    sdk.spans();
    await using client = await connect(server, { observe: full });
    await client.callTool("add", { a: 1 });
    await client.getPrompt("greet", { who: "you" });
    const spans = sdk.spans();
    const tools = spans.filter((span) => span.attributes["mcp.method.name"] === "tools/call");
    expect(tools).toHaveLength(2);
    for (const { attributes } of tools) {
      expect(attributes["gen_ai.tool.call.arguments"]).toBe('{"a":1}');
      expect(attributes["gen_ai.tool.call.result"]).toContain("three");
    }
    const prompts = spans.filter((span) => span.attributes["mcp.method.name"] === "prompts/get");
    expect(prompts.map(({ attributes }) => attributes["gen_ai.prompt.variable.who"])).toEqual(["you", "you"]);
  });

  it("fail no call with content that cannot be told", async () => {
    const full = telemetry(api, { content: true });
    const server = new Server({ name: "open", version: "1.0.0" });
    server.prompt("greet", { arguments: { who: {} } }, () => "hello");
    server.observe(full);
    await using client = await connect(server);
    const strange = { toString: 1, valueOf: 1 };
    const asked = await client.tryRequest("prompts/get", { name: "greet", arguments: { who: strange } });
    const plain = await connect(
      new Server({ name: "plain", version: "1.0.0" }).prompt("greet", { arguments: { who: {} } }, () => "hello"),
    );
    const expected = await plain.tryRequest("prompts/get", { name: "greet", arguments: { who: strange } });
    await plain.close();
    expect(asked.ok || expected.ok).toBe(false);
    expect(JSON.stringify(asked)).toBe(JSON.stringify(expected));
  });

  it("refuse what is no API of OpenTelemetry", () => {
    expect(() => telemetry({} as never)).toThrow("is not the OpenTelemetry API");
  });
});

describe("a span of an HTTP server", () => {
  it("is linked by the span of the call, whose parent is the caller", async () => {
    const server = offering();
    await using client = await connect(server, { revisions: ["2026-07-28"] });
    sdk.spans();
    const tracer = api.trace.getTracer("http");
    await tracer.startActiveSpan("POST", async (http) => {
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
      await client.callTool("add", {}, { trace: { traceparent } });
      http.end();
    });
    const spans = sdk.spans();
    const served = spans.find((span) => span.kind === api.SpanKind.SERVER);
    expect(served?.parentSpanContext?.spanId).toBe("b7ad6b7169203331");
    const posted = spans.find(({ name }) => name === "POST")?.spanContext().spanId;
    expect(served?.links.map(({ context }) => context.spanId)).toEqual([posted]);
  });
});

describe("senders that are refused", () => {
  it("are counted by reason, without a span", async () => {
    const server = offering();
    await using handle = await serveHttp(server, { port: 0, authenticate: () => ({ status: 401, reason: "expired" }) });
    sdk.spans();
    for (let count = 0; count < 3; count++) await fetch(handle.url, { method: "POST" });
    const points = await sdk.points("mcp.server.senders.refused");
    expect(points.map(({ attributes, value }) => [attributes, value])).toEqual([[{ "error.type": "expired" }, 3]]);
    expect(points[0]?.descriptor.unit).toBe("{request}");
    expect(sdk.spans()).toEqual([]);
  });
});
