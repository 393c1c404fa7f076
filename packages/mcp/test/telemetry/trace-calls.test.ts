import { type Client, type ClientOptions, connect, Server } from "@parley/mcp";
import { quotas } from "@parley/mcp/limits";
import { serveHttp } from "@parley/mcp/node";
import type { Revision } from "@parley/mcp/protocol";
import { formatTrace, type TraceSpan, traceCalls } from "@parley/mcp/telemetry";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";

function makeServer(): Server {
  const server = new Server({ name: "traced", version: "1" }, { quotas: quotas() });
  server.tool("greet", { input: z.object({ times: z.number() }) }, async ({ times }, ctx): Promise<string> => {
    ctx.progress(1, { total: 2, message: "asking" });
    const { name } = await ctx.elicit("Who are you?", z.object({ name: z.string() }));
    return `hello ${name}`.repeat(times);
  });
  server.use(function audit(_call, next) {
    return next();
  });
  return server;
}

/** Calls the tool once, and gives the traces of everything that the client sent. */
async function traced(
  revision: Revision,
  open: (server: Server, options: ClientOptions) => Promise<Client>,
): Promise<TraceSpan[]> {
  const traces: TraceSpan[] = [];
  const tracer = traceCalls((trace) => traces.push(trace));
  const server = makeServer();
  server.observe(tracer);
  const client = await open(server, {
    revisions: [revision],
    observe: tracer,
    onMessage: tracer.onMessage,
    onElicit: () => ({ action: "accept", content: { name: "Ada" } }),
  });
  expect(await client.call("greet", { times: 1 }, { onProgress: () => {} })).toBe("hello Ada");
  await client.close();
  return traces;
}

/** A trace without its times. */
function shape({ side, layer, detail, outcome, spans }: TraceSpan, depth = 0): string[] {
  const line = `${"  ".repeat(depth)}${side} ${layer} ${detail}`.trimEnd();
  const own = outcome === undefined ? line : `${line}: ${outcome}`;
  return [own, ...spans.flatMap((span) => shape(span, depth + 1))];
}

const overHttp = async (server: Server, options: ClientOptions): Promise<Client> => {
  const handle = await serveHttp(server, { port: 0 });
  onTestFinished(() => handle.close());
  return connect(handle.url, options);
};
const inProcess = (server: Server, options: ClientOptions): Promise<Client> => connect(server, options);

const serverLayers = (...inTool: string[]): string[] =>
  [
    "server limits",
    "  server middleware audit",
    "    server handler tools/call",
    "      server arguments",
    "      server tool greet",
    ...inTool,
  ].map((line) => `        ${line}`);

const ROUNDS = (transport: string) => [
  "client call tools/call greet: ok",
  "  client request 2: input_required",
  "    client era 2026-07-28",
  `    client transport ${transport}`,
  "      server call tools/call greet: input_required",
  ...serverLayers(),
  "      client progress 1 of 2: asking",
  "  client answers elicitation/create",
  "  client request 3: ok",
  "    client era 2026-07-28",
  `    client transport ${transport}`,
  "      server call tools/call greet: ok",
  ...serverLayers("      server result"),
  "      client progress 1 of 2: asking",
];
const SESSION = (transport: string) => [
  "client call tools/call greet: ok",
  "  client request 2: ok",
  "    client era 2025-11-25",
  `    client transport ${transport}`,
  "      server call tools/call greet: ok",
  ...serverLayers("        server question elicitation/create: ok", "      server result"),
  "      client progress 1 of 2: asking",
  "      client answer elicitation/create: ok",
];

/** Whether every span has ended and lies within the one around it. */
function nested({ startMs, durationMs = Number.NaN, spans }: TraceSpan): boolean {
  return spans.every(
    (span) => span.startMs >= startMs && span.startMs + (span.durationMs ?? 0) <= startMs + durationMs && nested(span),
  );
}

describe("a trace of a call with middleware, progress and a question", () => {
  it.each([
    ["2026-07-28", "in this process", inProcess, ROUNDS],
    ["2025-11-25", "in this process", inProcess, SESSION],
    ["2026-07-28", "http", overHttp, ROUNDS],
    ["2025-11-25", "http", overHttp, SESSION],
  ] as const)("has every layer of client and server in %s, %s", async (revision, transport, open, expected) => {
    const traces = await traced(revision, open);
    const call = traces.find(({ detail }) => detail === "tools/call greet");
    if (call === undefined) throw new Error("the call was not traced");
    expect(shape(call)).toEqual(expected(transport));
    expect(nested(call)).toBe(true);
    expect(traces[0]?.detail).toBe(revision === "2026-07-28" ? "server/discover" : "initialize");
  });
});

describe("formatTrace", () => {
  it("spells control characters out, and marks what did not end", () => {
    const trace: TraceSpan = {
      side: "client",
      layer: "progress",
      detail: "1\u001b[2J",
      startMs: 1,
      durationMs: undefined,
      outcome: undefined,
      spans: [],
    };
    expect(formatTrace(trace)).toBe("+1.00 ms    client progress 1\\u001b[2J");
    expect(formatTrace({ ...trace, layer: "tool" })).toBe("+1.00 ms  …  client tool 1\\u001b[2J");
  });
});

describe("traceCalls", () => {
  it("measures by its clock, and formatTrace prints begin, length and depth of each layer", async () => {
    const clock = { at: 0, monotonic: () => clock.at, warn: () => {} };
    const traces: TraceSpan[] = [];
    const tracer = traceCalls((trace) => traces.push(trace), { platform: clock });
    const server = new Server({ name: "slow", version: "1" }).tool("wait", () => {
      clock.at += 1_500;
      return "waited";
    });
    server.observe(tracer);
    await using client = await connect(server, { observe: tracer });
    await client.callTool("wait", {});
    expect(formatTrace(traces.at(-1) as TraceSpan).split("\n")).toEqual([
      "   +0.00 ms  1500.00 ms  client call tools/call wait: ok",
      "   +0.00 ms  1500.00 ms    client request 2: ok",
      "   +0.00 ms     0.00 ms      client era 2026-07-28",
      "   +0.00 ms  1500.00 ms      client transport in this process",
      "   +0.00 ms  1500.00 ms        server call tools/call wait: ok",
      "   +0.00 ms  1500.00 ms          server handler tools/call",
      "   +0.00 ms     0.00 ms            server arguments",
      "   +0.00 ms  1500.00 ms            server tool wait",
      "+1500.00 ms     0.00 ms            server result",
    ]);
  });

  it("passes on the calls of a server that no traced client sent", async () => {
    const traces: TraceSpan[] = [];
    const server = makeServer();
    server.observe(traceCalls((trace) => traces.push(trace)));
    await using client = await connect(server);
    await expect(client.callTool("greet", { times: "x" })).resolves.toMatchObject({ isError: true });
    expect(shape(traces.at(-1) as TraceSpan)).toEqual([
      "server call tools/call greet: tool_error",
      "  server limits",
      "    server middleware audit",
      "      server handler tools/call",
      "        server arguments",
    ]);
  });

  it("reaches the layers of mounted servers, and passes on what a closed connection left open", async () => {
    const traces: TraceSpan[] = [];
    const tracer = traceCalls((trace) => traces.push(trace));
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const inner = new Server({ name: "inner", version: "1" }).tool("stay", () => {
      begin();
      return new Promise<string>(() => {});
    });
    const server = new Server({ name: "outer", version: "1" }).mount("inner", inner);
    server.observe(tracer);
    const client = await connect(server, { observe: tracer });
    const call = client.callTool("inner_stay", {}).catch((error: unknown) => error);
    await begun;
    await client.close();
    await call;
    const last = traces.at(-1) as TraceSpan;
    expect(shape(last).join("\n")).toContain("server tool stay");
    expect(formatTrace(last)).toContain("…");
  });

  it("keeps a thousand spans of a call at most", async () => {
    const traces: TraceSpan[] = [];
    const tracer = traceCalls((trace) => traces.push(trace));
    const server = new Server({ name: "chatty", version: "1" }).tool("talk", (_args, ctx) => {
      for (let at = 1; at <= 2_000; at++) ctx.progress(at);
      return "done";
    });
    await using client = await connect(server, { observe: tracer, onMessage: tracer.onMessage });
    let seen = 0;
    await client.callTool("talk", {}, { onProgress: () => seen++ });
    const count = (span: TraceSpan): number => span.spans.reduce((sum, inner) => sum + count(inner), 1);
    expect(count(traces.at(-1) as TraceSpan)).toBe(Math.min(1_000, seen + 4));
    expect(seen).toBeGreaterThan(0);
  });
});
