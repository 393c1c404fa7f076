import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { channelPair } from "../../src/transport/channel/channel-pair.js";
import { serveChannel } from "../../src/transport/channel/server.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { LegacyClient } from "../http/legacy-client.js";
import { waitUntil } from "../http/watched.js";
import type { Heard } from "./talk.js";

const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: { roots: {} },
  clientInfo: { name: "c", version: "1" },
};

/** A client that has the answer to `initialize`, and has not sent `notifications/initialized`. */
async function early(options: { earlyRequests?: "refuse" } = {}) {
  const warnings: string[] = [];
  const platform = { warn: (line: string) => void warnings.push(line) };
  const server = new Server({ name: "t", version: "1" }, { platform, ...options })
    .tool("hello", {}, () => "hello")
    .tool("ask", {}, async (_args, ctx) => `${(await ctx.roots()).length} roots`);
  const [here, there] = channelPair();
  serveChannel(server, there);
  const heard: Heard[] = [];
  here.open({
    message: (text) => {
      const message = JSON.parse(text) as Heard;
      heard.push(message);
      if (message.method === "roots/list") {
        here.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { roots: [] } }));
      }
    },
    fault() {},
    closed() {},
  });
  const send = (message: object) => here.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const answer = async (id: number) => {
    await waitUntil(() => heard.some((message) => message.id === id && message.method === undefined));
    return heard.find((message) => message.id === id);
  };
  send({ id: 1, method: "initialize", params: INITIALIZE });
  await answer(1);
  return { server, heard, send, answer, warnings };
}

describe("between the answer of `initialize` and `notifications/initialized`", () => {
  it("requests are served, with one warning for all of them (LIFE-05, D04)", async () => {
    const { send, answer, warnings } = await early();
    send({ id: 2, method: "ping" });
    await answer(2);
    expect(warnings).toEqual([]);
    for (const id of [3, 4]) {
      send({ id, method: "tools/call", params: { name: "hello" } });
      expect((await answer(id))?.result.content).toEqual([{ type: "text", text: "hello" }]);
    }
    expect(warnings).toEqual([expect.stringContaining('"tools/call" before `notifications/initialized`')]);
  });

  it("all but `ping` are refused by a server that is told so, until the notification comes (D04)", async () => {
    const { send, answer, warnings } = await early({ earlyRequests: "refuse" });
    send({ id: 2, method: "ping" });
    expect((await answer(2))?.result).toEqual({});
    send({ id: 3, method: "tools/call", params: { name: "hello" } });
    const error = { code: -32600, message: '"tools/call" was sent before `notifications/initialized`' };
    expect((await answer(3))?.error).toMatchObject(error);
    send({ method: "notifications/initialized" });
    send({ id: 4, method: "tools/call", params: { name: "hello" } });
    expect((await answer(4))?.result.content).toEqual([{ type: "text", text: "hello" }]);
    expect(warnings).toEqual([]);
  });

  it("a word that is neither way is refused", () => {
    expect(() => new Server({ name: "t", version: "1" }, { earlyRequests: "reject" as never })).toThrow(
      expect.objectContaining({ kind: "invalid_definition", message: '`earlyRequests` is "reject"' }),
    );
  });

  it("the client is asked nothing: a question waits for it (LIFE-06)", async () => {
    const { heard, send, answer } = await early();
    send({ id: 2, method: "tools/call", params: { name: "ask" } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard.map(({ method }) => method)).toEqual([undefined]);
    send({ method: "notifications/initialized" });
    expect((await answer(2))?.result.content).toEqual([{ type: "text", text: "0 roots" }]);
  });

  it("a question fails that waits in vain (LIFE-06)", async () => {
    const { heard, send, answer } = await early();
    send({ id: 2, method: "tools/call", params: { name: "ask" } });
    expect(JSON.stringify(await answer(2))).toContain("cannot be asked before `notifications/initialized`");
    expect(heard.filter(({ method }) => method !== undefined)).toEqual([]);
  });
});

it("without sessions, a handshake promises neither subscriptions nor changes (RES-07)", async () => {
  const server = new Server({ name: "t", version: "1" }).resource("a://1", {}, () => "x").tool("t", {}, () => "x");
  const initialized = async (sessions: boolean) => {
    const handler = fetchHandler(server, { sessions });
    const opened = await new LegacyClient("http://localhost/mcp", { fetch: handler }).open();
    await handler.close();
    return ((await opened.json()) as { result: { capabilities: object } }).result.capabilities;
  };
  const changes = { listChanged: true };
  expect(await initialized(true)).toMatchObject({ resources: { subscribe: true, ...changes }, tools: changes });
  expect(await initialized(false)).toMatchObject({ resources: {}, tools: {} });
  expect(JSON.stringify(await initialized(false))).not.toMatch(/subscribe|listChanged/);
});
