import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { EventReader, LegacyClient } from "./legacy-client.js";
import { ADAPTERS } from "./serving.js";
import { gate } from "./watched.js";

/** Calls with the same id and the same progress token in every session. */
const call = (name: string, text: string) => ({
  jsonrpc: "2.0",
  id: 7,
  method: "tools/call",
  params: { name, arguments: { text }, _meta: { progressToken: 1 } },
});
const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;

function isolated() {
  const held = gate();
  const aborted: string[] = [];
  const server = new Server({ name: "t", version: "1" })
    .tool("slow", { input: TEXT }, async ({ text }, ctx) => {
      ctx.signal.addEventListener("abort", () => aborted.push(text));
      ctx.progress(1, { message: text });
      await held.passed;
      return text;
    })
    .tool("log", { input: TEXT }, async ({ text }, ctx) => {
      await ctx.log("info", text);
      return text;
    })
    .resource("mem://a", {}, () => "a")
    .resource("mem://b", {}, () => "b");
  return { server, held, aborted };
}

describe.each(ADAPTERS)("two sessions, through %s", (_name, start) => {
  const openBoth = async () => {
    const parts = isolated();
    const served = await start(parts.server);
    const clients = [0, 1].map(() => new LegacyClient(served.url, { fetch: served.fetch })) as [
      LegacyClient,
      LegacyClient,
    ];
    for (const client of clients) await client.open();
    return { ...parts, clients };
  };

  it("have answers and progress of their own, although ids and tokens are the same", async () => {
    const { clients, held } = await openBoth();
    expect(clients[0].sessionId).not.toBe(clients[1].sessionId);
    const readers: EventReader[] = [];
    for (const [at, client] of clients.entries())
      readers.push(new EventReader(await client.post(call("slow", `text ${at}`))));
    for (const [at, reader] of readers.entries())
      expect(await reader.message()).toMatchObject({ params: { progressToken: 1, message: `text ${at}` } });
    held.open();
    for (const [at, reader] of readers.entries())
      expect(await reader.message()).toMatchObject({ id: 7, result: { content: [{ text: `text ${at}` }] } });
  });

  it("do not cancel, end or resume what belongs to the other", async () => {
    const { clients, held, aborted } = await openBoth();
    const [one, other] = clients;
    const reader = new EventReader(await one.post(call("slow", "one")));
    const { eventId = "" } = await reader.message();
    await other.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } });
    expect((await other.get({ "last-event-id": eventId })).status).toBe(400);
    expect((await other.send("DELETE", {})).status).toBe(204);
    held.open();
    expect(await reader.message()).toMatchObject({ id: 7, result: { content: [{ text: "one" }] } });
    expect(aborted).toEqual([]);
    expect([(await one.post(call("log", "x"))).status, (await other.post(call("log", "x"))).status]).toEqual([
      200, 404,
    ]);
  });

  it("have subscriptions and levels of logging of their own", async () => {
    const { clients, server } = await openBoth();
    const streams: EventReader[] = [];
    for (const [at, client] of clients.entries()) {
      const subscribe = { method: "resources/subscribe", params: { uri: at === 0 ? "mem://a" : "mem://b" } };
      await client.post({ jsonrpc: "2.0", id: 1, ...subscribe });
      streams.push(new EventReader(await client.get()));
    }
    for (const uri of ["mem://b", "mem://a"]) server.resourceUpdated(uri);
    for (const [at, stream] of streams.entries())
      expect(await stream.message()).toMatchObject({ params: { uri: at === 0 ? "mem://a" : "mem://b" } });
    const [one, other] = clients;
    await one.post({ jsonrpc: "2.0", id: 2, method: "logging/setLevel", params: { level: "error" } });
    const textOf = async (client: LegacyClient) => (await client.post(call("log", "heard"))).text();
    expect(await textOf(one)).not.toContain("notifications/message");
    expect(await textOf(other)).toContain("notifications/message");
    for (const stream of streams) await stream.cancel();
  });
});
