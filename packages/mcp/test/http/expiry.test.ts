import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import type { HttpServerOptions } from "../../src/transport/http/server/options.js";
import { fakeTime } from "./fake-time.js";
import { EventReader, LegacyClient } from "./legacy-client.js";
import { modern } from "./modern.js";
import { note, waitUntil, watch } from "./watched.js";

const MINUTE = 60_000;

function setUp(options: HttpServerOptions = {}) {
  const time = fakeTime();
  const watched = watch(new Server({ name: "t", version: "1" }).tool("hello", {}, () => "hello"));
  const handler = fetchHandler(watched.endpoint, { ...options, platform: time.platform });
  const connect = () => new LegacyClient("http://localhost/mcp", { fetch: (request) => handler(request) });
  return { ...watched, time, handler, connect };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
};

describe("a session", () => {
  it("ends after 30 minutes without a sign of life, and each request is one", async () => {
    const { time, connect, peers } = setUp();
    const client = connect();
    await client.open();
    time.advance(29 * MINUTE);
    expect((await client.call("hello")).status).toBe(200);
    time.advance(29 * MINUTE);
    expect((await client.call("hello")).status).toBe(200);
    time.advance(30 * MINUTE + 1);
    expect((await client.call("hello")).status).toBe(404);
    expect(peers.size).toBe(0);
  });

  it("lives as long as a stream of it is open, and comments show that the stream is (HTTP26-14)", async () => {
    const { time, connect } = setUp();
    const client = connect();
    await client.open();
    const reader = new EventReader(await client.get());
    const reading = reader.rest();
    for (let minute = 0; minute < 120; minute++) {
      time.advance(MINUTE);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await client.call("hello")).status).toBe(200);
    expect(reader.raw.match(/^:/gm)?.length).toBeGreaterThanOrEqual(400);
    await reader.cancel();
    await reading;
    time.advance(61 * MINUTE);
    expect((await client.call("hello")).status).toBe(404);
  });

  it("ends after 30 seconds when its client never says that it is ready", async () => {
    const { time, connect, peers } = setUp();
    const client = connect();
    const opened = await client.post(INITIALIZE);
    client.sessionId = opened.headers.get("mcp-session-id") ?? "";
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    time.advance(29_000);
    expect((await client.post(ping)).status).toBe(200);
    time.advance(1_001);
    expect((await client.post(ping)).status).toBe(404);
    expect(peers.size).toBe(0);
  });

  it("lives on when its client never says that it is ready, but calls (LIFE-05)", async () => {
    const time = fakeTime();
    const server = new Server({ name: "t", version: "1" }, { platform: time.platform }).tool(
      "hello",
      {},
      () => "hello",
    );
    const handler = fetchHandler(server, { platform: time.platform });
    const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => handler(request) });
    const opened = await client.post(INITIALIZE);
    client.sessionId = opened.headers.get("mcp-session-id") ?? "";
    for (let minute = 0; minute < 100; minute += 20) {
      expect((await client.call("hello")).status).toBe(200);
      time.advance(20 * MINUTE);
    }
    expect(time.warnings).toEqual([expect.stringContaining("before `notifications/initialized`")]);
    time.advance(31 * MINUTE);
    expect((await client.call("hello")).status).toBe(404);
  });

  it("leaves nothing behind: no timer, no peer", async () => {
    const { time, connect, peers } = setUp();
    for (let count = 0; count < 100; count++) await connect().open();
    expect(peers.size).toBe(100);
    time.advance(90 * MINUTE);
    expect(peers.size).toBe(0);
    expect(time.pending()).toBe(0);
  });

  it("is refused with 503 when the node is full, unless the oldest was idle for long", async () => {
    const { time, connect } = setUp({ limits: { maxSessions: 2 } });
    await connect().open();
    await connect().open();
    const refused = await connect().open();
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.json()).toMatchObject({ error: { code: -32603, data: { limit: "maxSessions" } } });
    time.advance(6 * MINUTE);
    expect((await connect().open()).status).toBe(200);
  });

  it("is held by each principal up to a limit, where the one that was idle for the longest time gives way", async () => {
    const time = fakeTime();
    const handler = fetchHandler(
      new Server({ name: "t", version: "1" }).tool("hello", {}, () => "hello"),
      {
        platform: time.platform,
        authenticate: (request) => ({ key: request.header("authorization") ?? "" }),
        limits: { maxSessions: 6, maxSessionsPerPrincipal: 5 },
      },
    );
    const as = async (name: string, status = 200) => {
      const client = new LegacyClient("http://localhost/mcp", { fetch: handler, headers: { authorization: name } });
      const opened = await client.open();
      expect(opened.status).toBe(status);
      time.advance(10);
      return { client, opened };
    };
    const greedy: LegacyClient[] = [];
    for (let count = 0; count < 5; count++) greedy.push((await as("greedy")).client);
    await greedy[0]?.call("hello");
    time.advance(10);
    greedy.push((await as("greedy")).client);
    const alive = async () => Promise.all(greedy.map(async (client) => (await client.call("hello")).status));
    expect(await alive()).toEqual([200, 404, 200, 200, 200, 200]);
    await as("ada");
    const bert = await as("bert");
    expect(bert.opened.status).toBe(200);
    expect((await alive()).filter((status) => status === 200)).toHaveLength(4);
    const readers = [];
    for (const client of greedy) if ((await client.call("hello")).status === 200) readers.push(await client.get());
    const { opened } = await as("carl", 503);
    expect(await opened.json()).toMatchObject({ error: { data: { limit: "maxSessions" } } });
    for (const reader of readers) await reader.body?.cancel();
  });

  it("reports what it could not keep while nobody listened", async () => {
    const { time, connect, peers } = setUp({ eventLog: { maxEvents: 3 } });
    const client = connect();
    await client.open();
    for (let n = 1; n <= 5; n++) for (const peer of peers) peer.send(note(n));
    const reader = new EventReader(await client.get());
    for (const peer of peers) peer.send(note(6));
    for (const data of [3, 4, 5, 6]) expect(await reader.message()).toMatchObject({ params: { data } });
    expect(time.warnings.join()).toContain("eventLog");
    await reader.cancel();
  });
});

describe("a stream", () => {
  it("ends when the credentials of its reader end", async () => {
    const time = fakeTime();
    const handler = fetchHandler(new Server({ name: "t", version: "1" }), {
      platform: time.platform,
      authenticate: () => ({ key: "k", expiresAt: time.platform.now() + MINUTE }),
    });
    const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => handler(request) });
    await client.open();
    const reader = new EventReader(await client.get());
    time.advance(2 * MINUTE);
    await reader.rest();
  });

  it("ends when the credentials of its reader are revoked", async () => {
    const watchers = new Set<() => void>();
    const onRevoked = (revoked: () => void) => {
      watchers.add(revoked);
      return () => watchers.delete(revoked);
    };
    const handler = fetchHandler(new Server({ name: "t", version: "1" }), {
      authenticate: () => ({ key: "k", onRevoked }),
    });
    const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => handler(request) });
    await client.open();
    const readers = [new EventReader(await client.get()), new EventReader(await client.get())];
    await readers[0]?.cancel();
    await waitUntil(() => watchers.size === 1);
    for (const revoked of watchers) revoked();
    await readers[1]?.rest();
    expect(watchers.size).toBe(0);
    handler.close();
  });

  it("ends with the credentials of its reader although it is never quiet", async () => {
    const time = fakeTime();
    const watched = watch(new Server({ name: "t", version: "1" }));
    const handler = fetchHandler(watched.endpoint, {
      platform: time.platform,
      authenticate: () => ({ key: "k", expiresAt: 1_000_000 + 10 * MINUTE }),
    });
    const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => handler(request) });
    await client.open();
    const reader = new EventReader(await client.get());
    for (let second = 0; second < 700; second += 5) {
      time.advance(5000);
      for (const peer of watched.peers) peer.send(note(second));
    }
    const events = await reader.rest();
    expect(JSON.parse(events.at(-1)?.data ?? "")).toMatchObject({ params: { data: 590 } });
  });

  it("is not opened beyond the limit: the request is refused with 503 and cancelled", async () => {
    const watched = watch(
      new Server({ name: "t", version: "1" }).tool("forever", {}, (_args, ctx) => {
        ctx.progress(1);
        return new Promise<string>((resolve) => ctx.signal.addEventListener("abort", () => resolve("stopped")));
      }),
    );
    const handler = fetchHandler(watched.endpoint, { limits: { maxStreams: 1 } });
    const call = () => {
      const { headers, body } = modern("tools/call", { name: "forever" });
      const message = JSON.parse(body);
      message.params._meta.progressToken = 1;
      return handler(new Request("http://localhost/mcp", { method: "POST", headers, body: JSON.stringify(message) }));
    };
    const first = await call();
    expect(first.headers.get("content-type")).toBe("text/event-stream");
    const second = await call();
    expect(second.status).toBe(503);
    expect(second.headers.get("retry-after")).toBe("1");
    await waitUntil(() => watched.exchanges[1]?.signal.aborted === true);
    expect(watched.exchanges[0]?.signal.aborted).toBe(false);
    await first.body?.cancel();
    expect(watched.exchanges[0]?.signal.aborted).toBe(true);
    expect((await call()).status).toBe(200);
    handler.close();
  });

  it("that nobody reads is closed after a minute, however little is said on it", async () => {
    const { time, connect, peers } = setUp();
    const client = connect();
    await client.open();
    const response = await client.get();
    for (const peer of peers) for (let n = 0; n < 50; n++) peer.send(note(n));
    time.advance(2 * MINUTE);
    const events = await new EventReader(response).rest();
    expect(events).toHaveLength(51);
  });

  it("that nobody reads is closed when too much waits for its reader", async () => {
    const { connect, peers } = setUp({ limits: { maxQueuedBytes: 10_000 } });
    const client = connect();
    await client.open();
    const response = await client.get();
    for (let n = 1; n <= 500; n++) for (const peer of peers) peer.send(note(n));
    const seen = await new EventReader(response).rest();
    expect(seen.length).toBeLessThan(500);
    const last = seen.at(-1)?.id ?? "";
    const resumed = new EventReader(await client.get({ "last-event-id": last }));
    const next = await resumed.message();
    expect(next).toMatchObject({ params: { data: seen.length } });
    await resumed.cancel();
  });
});
