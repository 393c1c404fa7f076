import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fetchHandler, Server } from "@parley/mcp";
import { nodeHandler } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const server = () => new Server({ name: "t", version: "1" }).tool("t", {}, () => "done");
const ping = () =>
  new Request("http://localhost/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "t",
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });

describe("a handler that is still being loaded", () => {
  it("answers a request of the same turn", async () => {
    const handler = fetchHandler(server());
    ends.push(() => handler.close());
    expect((await handler(ping())).status).not.toBe(503);
  });

  it("is closed by a close of the same turn", async () => {
    const handler = fetchHandler(server());
    handler.close();
    await handler.drain();
    expect((await handler(ping())).status).toBe(503);
  });

  it("refuses what comes after a drain of the same turn", async () => {
    const handler = fetchHandler(server());
    ends.push(() => handler.close());
    const drained = handler.drain();
    expect((await handler(ping())).status).toBe(503);
    await drained;
  });

  it("throws at once for settings that would serve strangers", () => {
    const open = { allowedHosts: ["example.com"] };
    expect(() => fetchHandler(server(), open)).toThrow("authenticate");
    expect(() => nodeHandler(server(), open)).toThrow("authenticate");
  });

  it("answers Node's requests, and refuses them once it was closed", async () => {
    const handler = nodeHandler(server());
    const listener = createServer(handler).listen(0, "127.0.0.1");
    ends.push(() => listener.close());
    await new Promise((resolve) => listener.once("listening", resolve));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`;
    expect((await fetch(url, { method: "PUT" })).status).toBe(405);
    handler.close();
    expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(503);
  });
});
