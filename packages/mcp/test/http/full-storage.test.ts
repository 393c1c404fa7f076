import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { delayedStorage } from "../../src/storage/delayed-storage.js";
import { createMemoryStorage } from "../../src/storage/memory.js";
import { type Storage, StorageError } from "../../src/storage/storage.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { fakeTime } from "./fake-time.js";
import { EventReader, LegacyClient } from "./legacy-client.js";
import { gate } from "./watched.js";

const URL = "http://localhost:3000/mcp";

/** A storage whose log takes nothing while `full` is set; `reads` makes reading fail too. */
function refusingStorage(late: boolean) {
  const memory = createMemoryStorage({ clock: { now: () => Date.now() } });
  const state = { full: false, broken: false };
  const storage: Storage = {
    kv: memory.kv,
    pubsub: memory.pubsub,
    log: {
      append(stream, entry, limits) {
        if (state.full) throw new StorageError("maxBytes", 1, "Raise it.");
        return memory.log.append(stream, entry, limits);
      },
      read(stream, after, limit) {
        if (state.broken) throw new Error("the store is down");
        return memory.log.read(stream, after, limit);
      },
      touch: (stream, ttlMs) => memory.log.touch(stream, ttlMs),
      drop: (stream) => memory.log.drop(stream),
    },
  };
  return { state, storage: late ? delayedStorage(storage) : storage };
}

function serving(storage: Storage | undefined) {
  const time = fakeTime();
  const held = gate();
  const server = new Server({ name: "t", version: "1" }, storage === undefined ? {} : { storage })
    .tool("steps", {}, async (_args, ctx) => {
      ctx.progress(1);
      await held.passed;
      return "done";
    })
    .tool("hello", {}, () => "hello");
  const handler = fetchHandler(server, { platform: { ...time.platform, timer: () => ({ cancel() {} }) } });
  return { server, handler, held, warnings: time.warnings };
}

async function connected(handler: (request: Request) => Promise<Response>): Promise<LegacyClient> {
  const client = new LegacyClient(URL, { fetch: handler });
  await client.open();
  return client;
}

describe.each([
  ["synchronous", false],
  ["asynchronous", true],
] as const)("a full %s storage", (_name, late) => {
  it.each(["full", "down"])("does not lose the answer of a call that streams: %s", async (how) => {
    const { state, storage } = refusingStorage(late);
    const { handler, held, warnings } = serving(storage);
    const client = await connected(handler);
    state.full = true;
    state.broken = how === "down";
    const reader = new EventReader(await client.call("steps", {}, undefined, { progressToken: 1 }));
    expect(await reader.message()).toMatchObject({ method: "notifications/progress" });
    held.open();
    expect(await reader.message()).toMatchObject({ result: { content: [{ text: "done" }] } });
    expect(await reader.rest()).toEqual([]);
    expect(warnings.join()).toContain("the session storage failed");
    await handler.close();
  });

  it("tells a client that resumes that the answer is gone, instead of letting it wait", async () => {
    const { state, storage } = refusingStorage(late);
    const { handler, held } = serving(storage);
    const client = await connected(handler);
    const reader = new EventReader(await client.call("steps", {}, undefined, { progressToken: 1 }));
    const { eventId = "" } = await reader.message();
    await reader.cancel();
    state.full = true;
    held.open();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const resumed = await client.get({ "last-event-id": eventId });
    expect(resumed.status).toBe(400);
    expect(await resumed.json()).toMatchObject({ error: { data: { reason: "evicted" } } });
    await handler.close();
  });

  it("refuses a subscription that it cannot keep, and takes it when there is room again", async () => {
    const { kv, log, pubsub } = createMemoryStorage({ clock: { now: () => Date.now() } });
    let full = false;
    const refusing: Storage = {
      kv: {
        get: (key) => kv.get(key),
        set(key, value, options) {
          if (full) throw new StorageError("maxBytes", 1, "Raise it.");
          return kv.set(key, value, options);
        },
        delete: (key, options) => kv.delete(key, options),
        touch: (key, ttlMs) => kv.touch(key, ttlMs),
      },
      log,
      pubsub,
    };
    const storage = late ? delayedStorage(refusing) : refusing;
    const watched: string[] = [];
    const server = new Server(
      { name: "t", version: "1" },
      { storage, onSubscribe: () => watched.push("on"), onUnsubscribe: () => watched.push("off") },
    ).resource("t://a", {}, () => "");
    const handler = fetchHandler(server, { platform: fakeTime().platform });
    const client = await connected(handler);
    const message = { jsonrpc: "2.0", id: 7, method: "resources/subscribe", params: { uri: "t://a" } };
    const subscribe = async () => (await client.post(message)).json();
    full = true;
    expect(await subscribe()).toMatchObject({
      error: { code: -32603, message: expect.stringContaining("could not be stored") },
    });
    expect(watched).toEqual(["on", "off"]);
    full = false;
    expect(await subscribe()).toMatchObject({ result: {} });
    expect(watched).toEqual(["on", "off", "on"]);
    await handler.close();
  });
});

describe("what clients may store for resuming", () => {
  /** Makes a principal fill its share by calls whose clients leave. */
  async function filled(eventLog: object, sessions: number) {
    const time = fakeTime();
    const server = new Server({ name: "t", version: "1" }).tool("long", {}, async (_args, ctx) => {
      ctx.progress(1, { message: "x".repeat(1000) });
      await new Promise((resolve) => setTimeout(resolve, 1));
      return "done";
    });
    const authenticate = (request: { header(name: string): string | undefined }) => ({
      key: request.header("authorization") ?? "nobody",
    });
    const handler = fetchHandler(server, { platform: time.platform, authenticate, eventLog });
    const open = async (key: string) => {
      const client = new LegacyClient(URL, { fetch: handler, headers: { authorization: key } });
      await client.open();
      return client;
    };
    const call = async (client: LegacyClient) =>
      new EventReader(await client.call("long", {}, undefined, { progressToken: 1 })).rest();
    for (let count = 0; count < sessions; count++) {
      const client = await open("eve");
      const running = await Promise.all([call(client), call(client)]);
      expect(running.map((events) => events.at(-1)?.data)).toEqual([
        expect.stringContaining("done"),
        expect.stringContaining("done"),
      ]);
    }
    const other = await call(await open("ada"));
    await handler.close();
    return { other, warnings: time.warnings.join() };
  }

  it("has a bound for each session, beyond which a live client still gets its answer", async () => {
    const { warnings } = await filled({ maxBytesPerSession: 1500 }, 1);
    expect(warnings).toContain("eventLog.maxBytesPerSession");
  });

  it("has a bound for each principal, and does not take from others", async () => {
    const { warnings, other } = await filled({ maxBytesPerPrincipal: 1500 }, 3);
    expect(warnings).toContain("eventLog.maxBytesPerPrincipal");
    expect(other.every(({ id }) => id !== undefined)).toBe(true);
  });
});

describe("clients that never read", () => {
  it("do not fill the storage with messages that belong to no request", async () => {
    const { server, handler, held } = serving(undefined);
    held.open();
    for (let count = 0; count < 70; count++) await connected(handler);
    const busy = await connected(handler);
    for (let count = 0; count < 40; count++) server.log("info", "x".repeat(200_000));
    const fresh = await connected(handler);
    expect(fresh.sessionId).toBeDefined();
    const reader = new EventReader(await busy.call("steps", {}, undefined, { progressToken: 1 }));
    const events = await reader.rest();
    expect(events.at(-1)?.data).toContain("done");
    expect(events.at(-1)?.id).toBeDefined();
    await handler.close();
  });

  it("get what was said in the meantime by their first GET, and are told if some of it was dropped", async () => {
    const { server, handler, warnings } = serving(undefined);
    const client = await connected(handler);
    server.log("info", "early");
    const prompt = new EventReader(await client.get());
    expect(await prompt.message()).toMatchObject({ params: { data: "early" } });
    expect(prompt.raw).not.toContain("dropped");
    await prompt.cancel();

    const slow = await connected(handler);
    for (let count = 0; count < 1000; count++) server.log("info", `${count} ${"x".repeat(1000)}`);
    const reader = new EventReader(await slow.get());
    expect(await reader.message()).toMatchObject({ params: { data: expect.stringMatching(/^9\d\d /) } });
    expect(reader.raw).toContain(": messages were dropped");
    expect(warnings.join()).toContain("eventLog");
    await reader.cancel();
    await handler.close();
  });

  it("keep no more for all sessions of one principal than its share, and others keep theirs", async () => {
    const { platform } = fakeTime();
    const server = new Server({ name: "t", version: "1" });
    const authenticate = (request: { header(name: string): string | undefined }) => ({
      key: request.header("authorization") ?? "nobody",
    });
    const eventLog = { maxUnreadLength: 5_000, maxUnreadLengthPerPrincipal: 6_000 };
    const handler = fetchHandler(server, { platform, authenticate, eventLog });
    const open = async (key: string) => {
      const client = new LegacyClient(URL, { fetch: handler, headers: { authorization: key } });
      await client.open();
      return client;
    };
    const clients = [await open("eve"), await open("eve"), await open("eve"), await open("ada")];
    for (let count = 0; count < 4; count++) server.log("info", `${count} ${"x".repeat(1000)}`);
    server.log("info", "last");
    const counts: number[] = [];
    for (const client of clients) {
      const reader = new EventReader(await client.get());
      server.log("info", "now");
      const texts: string[] = [];
      while (!texts.some((text) => text.includes('"now"'))) texts.push(JSON.stringify(await reader.message()));
      counts.push(texts.length - 1);
      await reader.cancel();
    }
    expect(counts.pop()).toBe(5);
    const kept = counts.reduce((sum, count) => sum + count, 0);
    expect(kept).toBeGreaterThan(4);
    expect(kept).toBeLessThan(9);
    await handler.close();
  });
});
