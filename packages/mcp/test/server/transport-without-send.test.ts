import { describe, expect, it } from "vitest";
import type { McpError } from "../../src/protocol/error.js";
import { Server } from "../../src/server/server.js";
import type { Exchange, Peer } from "../../src/transport/transport.js";

const SAY = { kind: "misuse", fix: "Rename `say` to `send`." };

function setUp() {
  const warnings: string[] = [];
  const platform = { warn: (line: string) => void warnings.push(line) };
  const server = new Server({ name: "t", version: "1" }, { platform }).tool("work", async (_args, ctx) => {
    await ctx.progress(1);
    return "done";
  });
  return { endpoint: server.endpoint(), warnings };
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
  progressToken: 1,
};

/** Calls a method over an exchange of a transport that was written for an earlier version. */
async function request(method: string, params: object, old: object) {
  const { endpoint, warnings } = setUp();
  const exchange = { id: 1, signal: new AbortController().signal, ...old } as unknown as Exchange;
  const message = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } } as const;
  const { text } = await endpoint.request(endpoint.accept(message), exchange);
  return { text, warnings };
}

describe("a transport without `send`", () => {
  it("gets an error that names the new method when it opens a peer", () => {
    const { endpoint } = setUp();
    const old = { abort: () => false, say() {}, ask: () => Promise.reject(new Error("not asked")) };
    let thrown: unknown;
    try {
      endpoint.opened(old as unknown as Peer);
    } catch (error) {
      thrown = error;
    }
    expect(thrown as McpError).toMatchObject({ ...SAY, message: expect.stringContaining("a `Peer` without") });
    expect(() => endpoint.opened({ abort: () => false } as unknown as Peer)).toThrow(/without the method `send`/);
    expect(() => endpoint.opened({ ...old, send() {} })).not.toThrow();
  });

  it.each([
    ["tools/call", { name: "work" }],
    ["subscriptions/listen", { notifications: { toolsListChanged: true } }],
  ])("is named in a warning when %s sends a notification", async (method, params) => {
    const { text, warnings } = await request(method, params, { say() {} });
    expect(text).toContain("without the method `send`");
    expect(warnings.join("\n")).toContain("Rename `say` to `send`.");
  });

  it("is told to implement it if it has no method of either name", async () => {
    const { warnings } = await request("tools/call", { name: "work" }, {});
    expect(warnings.join("\n")).toContain("Implement `send(text)`.");
  });

  it("gets its own error if `send` exists and throws", async () => {
    const broken = () => {
      throw new Error("the wire is cut");
    };
    const { warnings } = await request("tools/call", { name: "work" }, { send: broken });
    expect(warnings.join("\n")).toContain("the wire is cut");
  });
});
