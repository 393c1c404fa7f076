import { describe, expect, it } from "vitest";
import { connect, Server, ToolError } from "../../src/index.js";
import { type CallLine, logCalls } from "../../src/telemetry.js";

const INFO = { name: "logged", version: "1.0.0" };

/** A logger that keeps its lines. */
function keeping() {
  const lines: (CallLine & { level: string; message: string })[] = [];
  const at = (level: string) => (fields: CallLine, message: string) => void lines.push({ ...fields, level, message });
  return { lines, info: at("info"), warn: at("warn"), error: at("error") };
}

function logged(): Server {
  const server = new Server(INFO, { onError: () => {} });
  server.tool("add", { unknownArguments: "ignore" }, () => "a secret result");
  server.tool("odd", () => {
    throw new ToolError("never\nmind");
  });
  server.tool("broken", () => {
    throw new Error("jammed");
  });
  return server;
}

describe.each(["2025-11-25", "2026-07-28"] as const)("the lines of calls in %s", (revision) => {
  it("have a level, stable fields and no arguments", async () => {
    const logger = keeping();
    const server = logged();
    server.observe(logCalls(logger));
    await using client = await connect(server, { revisions: [revision] });
    await client.callTool("add", { secret: "argument" });
    await client.callTool("odd");
    await client.callTool("broken");
    await client.tryRequest("no/such");
    const calls = logger.lines.filter(({ method }) => method === "tools/call");
    const plain = calls.map(({ durationMs: _took, message: _text, requestId: _id, ...rest }) => rest);
    const common = { event: "call", method: "tools/call", protocolVersion: revision };
    const failed = { ...common, outcome: "tool_error" };
    expect(plain).toEqual([
      { ...common, name: "add", outcome: "ok", level: "info" },
      { ...failed, name: "odd", kind: "tool_error", error: expect.stringContaining("never"), level: "warn" },
      { ...failed, name: "broken", kind: "handler_error", error: "jammed", level: "error" },
    ]);
    expect(calls[0]?.message).toMatch(/^call tools\/call add ok [0-9.]+ ms$/);
    expect(JSON.stringify(logger.lines)).not.toMatch(/secret/);
    expect(logger.lines.at(-1)).toMatchObject({ event: "refused", method: "no/such", kind: "method_not_found" });
  });

  it("are short, whatever a caller names", async () => {
    const logger = keeping();
    const server = logged();
    server.observe(logCalls(logger));
    await using client = await connect(server, { revisions: [revision], observe: logCalls(logger) });
    await client.tryCall("x".repeat(100_000));
    await client.tryRequest("resources/read", { uri: `file:///${"y".repeat(100_000)}` });
    expect(logger.lines.length).toBeGreaterThan(3);
    for (const line of logger.lines) expect(JSON.stringify(line).length).toBeLessThan(5000);
  });

  it("tell the requests and the states of a client", async () => {
    const logger = keeping();
    const client = await connect(logged(), { revisions: [revision], observe: logCalls(logger) });
    await client.call("add");
    await client.close();
    const states = logger.lines.filter(({ event }) => event === "connection").map(({ state }) => state);
    expect(states).toEqual(["connecting", "ready", "closed"]);
    const request = logger.lines.find(({ method }) => method === "tools/call");
    expect(request).toMatchObject({ event: "request", name: "add", outcome: "ok", level: "info" });
  });
});

describe("logCalls", () => {
  it("leaves out what is fast and fine", async () => {
    const logger = keeping();
    const server = logged();
    server.observe(logCalls(logger, { slowMs: 60_000 }));
    await using client = await connect(server);
    await client.callTool("add");
    await client.callTool("odd");
    expect(logger.lines.map(({ name }) => name)).toEqual(["odd"]);
  });

  it("refuses what is no logger", () => {
    expect(() => logCalls({} as never)).toThrow("is not a logger");
  });
});
