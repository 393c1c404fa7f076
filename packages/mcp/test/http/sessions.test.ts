import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { EventReader, LegacyClient } from "./legacy-client.js";
import { ADAPTERS } from "./serving.js";
import { gate, note, waitUntil, watch } from "./watched.js";

function everything(passed?: Promise<void>): Server<object> {
  return new Server({ name: "t", version: "1" })
    .tool("hello", {}, () => "hello")
    .tool("gated", {}, async (_args, ctx) => {
      await passed;
      return ctx.signal.aborted ? "aborted" : "through";
    })
    .tool("steps", {}, async (_args, ctx) => {
      for (let step = 1; step <= 3; step++) ctx.progress(step);
      return "done";
    })
    .tool("ask", {}, async (_args, ctx) => {
      const answer = await ctx.elicit("Name?", { type: "object", properties: { name: { type: "string" } } });
      return `asked ${JSON.stringify(answer)}`;
    });
}

describe.each(ADAPTERS)("sessions through %s", (_name, start) => {
  it("begin with a random id in visible ASCII and end with DELETE (HTTP25-28, HTTP25-29, HTTP25-32)", async () => {
    const { endpoint, peers } = watch(everything());
    const served = await start(endpoint);
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    const opened = await client.open();
    expect(opened.status).toBe(200);
    expect(client.sessionId).toMatch(/^[\x21-\x7e]{32}$/);
    expect(peers.size).toBe(1);
    const answer = await client.call("hello");
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(await answer.json()).toMatchObject({ result: { content: [{ text: "hello" }] } });
    expect((await client.send("DELETE", {})).status).toBe(204);
    expect(peers.size).toBe(0);
    expect((await client.call("hello")).status).toBe(404);
    expect((await client.send("DELETE", {})).status).toBe(404);
    expect((await client.get()).status).toBe(404);
  });

  it("are demanded of every request but the first (HTTP25-31)", async () => {
    const served = await start(everything());
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    const refused = await client.call("hello");
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ id: 1, error: { code: -32600 } });
    expect((await client.get()).status).toBe(400);
    expect((await client.send("DELETE", {})).status).toBe(400);
  });

  it("refuse a version header that names no revision (HTTP25-38)", async () => {
    const served = await start(everything());
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open();
    for (const version of ["2025-06-18", "2025-11-25"]) {
      const taken = await client.post({ jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-protocol-version": version });
      expect(taken.status).toBe(200);
    }
    const wrong = await client.post(
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { "mcp-protocol-version": "1999-01-01" },
    );
    expect(wrong.status).toBe(400);
    expect((await client.get({ "mcp-protocol-version": "1999-01-01" })).status).toBe(400);
  });

  it("stream what is said before an answer, after a priming event where the revision has one (HTTP25-11)", async () => {
    const served = await start(everything());
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open();
    const events = await new EventReader(await client.call("steps", {}, undefined, { progressToken: 1 })).rest();
    expect(events[0]?.data).toBe("");
    expect(events.slice(1).map((event) => JSON.parse(event.data).method ?? "answer")).toEqual([
      "notifications/progress",
      "notifications/progress",
      "notifications/progress",
      "answer",
    ]);
    expect(new Set(events.map((event) => event.id)).size).toBe(5);
    const older = new LegacyClient(served.url, { fetch: served.fetch });
    await older.open("2025-06-18");
    const first = await new EventReader(await older.call("steps", {}, undefined, { progressToken: 1 })).next();
    expect(first?.data).not.toBe("");
  });

  it("ask the client on the stream of the request that caused it (HTTP25-23)", async () => {
    const served = await start(everything());
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open("2025-11-25", { elicitation: {} });
    const reader = new EventReader(await client.call("ask"));
    const question = await reader.message();
    expect(question).toMatchObject({ method: "elicitation/create" });
    const answered = await client.post({
      jsonrpc: "2.0",
      id: question["id"],
      result: { action: "accept", content: { name: "Ada" } },
    });
    expect(answered.status).toBe(202);
    expect(await reader.message()).toMatchObject({ result: { content: [{ text: 'asked {"name":"Ada"}' }] } });
  });

  it("give what belongs to no request to one standing stream, also what was said before it opened (HTTP25-22)", async () => {
    const { endpoint, peers } = watch(everything());
    const served = await start(endpoint);
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open();
    const [peer] = peers;
    peer?.send(note(1));
    const first = new EventReader(await client.get({ accept: "text/event-stream" }));
    const second = new EventReader(await client.get({ accept: "text/event-stream" }));
    peer?.send(note(2));
    expect(await first.message()).toMatchObject({ params: { data: 1 } });
    expect(await first.message()).toMatchObject({ params: { data: 2 } });
    await first.cancel();
    const onSecond = second.message();
    // The server may notice late that the first reader has gone; what it says until then waits for that one to return.
    let said = 2;
    let arrived: unknown;
    void onSecond.then((message) => {
      arrived = message;
    });
    await waitUntil(() => {
      if (arrived === undefined) peer?.send(note(++said));
      return arrived !== undefined;
    });
    expect(arrived).toMatchObject({ params: { data: expect.any(Number) } });
    await second.cancel();
  });

  it("refuse a further stream only beyond the limit", async () => {
    const served = await start(everything(), { limits: { maxStreamsPerSession: 2 } });
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open();
    const readers = [new EventReader(await client.get()), new EventReader(await client.get())];
    expect((await client.get()).status).toBe(409);
    for (const reader of readers) await reader.cancel();
  });

  it("take a cancellation for one request and give no answer to it (CANC-03)", async () => {
    const { passed, open } = gate();
    const served = await start(everything(passed));
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open();
    const pending = client.call("gated");
    await waitUntil(async () => {
      const twice = await client.post({ jsonrpc: "2.0", id: 1, method: "ping" });
      return twice.status === 400;
    });
    await client.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    const response = await pending;
    expect(response.status).toBe(202);
    expect(await response.text()).toBe("");
    open();
  });

  it("accept a batch where the revision knows batches, and nowhere else (BASE-12, BASE-13)", async () => {
    const served = await start(everything());
    const old = new LegacyClient(served.url, { fetch: served.fetch });
    await old.open("2025-03-26");
    const batch = [
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "hello" } },
      { jsonrpc: "2.0", method: "notifications/whatever" },
      { nonsense: true },
    ];
    const response = await old.post(batch);
    expect(response.status).toBe(200);
    const answers = (await response.json()) as { id?: number; error?: { code: number } }[];
    expect(answers.map((answer) => answer.id ?? answer.error?.code).sort()).toEqual([-32600, 1, 2]);
    expect((await old.post([{ jsonrpc: "2.0", method: "notifications/whatever" }])).status).toBe(202);
    expect((await old.post([])).status).toBe(400);
    const newer = new LegacyClient(served.url, { fetch: served.fetch });
    await newer.open("2025-06-18");
    expect((await newer.post(batch)).status).toBe(400);
  });

  it("can be left out: each POST stands alone and GET is refused (HTTP25-36)", async () => {
    const served = await start(everything(), { sessions: false });
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    const opened = await client.open();
    expect(opened.status).toBe(200);
    expect(client.sessionId).toBeUndefined();
    expect(await (await client.call("hello")).json()).toMatchObject({ result: { content: [{ text: "hello" }] } });
    const refused = await client.get();
    expect(refused.status).toBe(405);
    expect(refused.headers.get("allow")).toBe("POST");
    expect((await client.send("DELETE", {})).status).toBe(405);
  });
});
