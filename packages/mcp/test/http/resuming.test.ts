import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { delayedStorage } from "../../src/storage/delayed-storage.js";
import { createMemoryStorage } from "../../src/storage/memory.js";
import type { Storage } from "../../src/storage/storage.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import type { HttpServerOptions } from "../../src/transport/http/server/options.js";
import { EventReader, LegacyClient } from "./legacy-client.js";
import { ADAPTERS } from "./serving.js";
import { gate, note, waitUntil, watch } from "./watched.js";

const clock = { now: () => Date.now() };
const STORES: [string, () => Storage][] = [
  ["a synchronous store", () => createMemoryStorage({ clock })],
  ["a store that answers late", () => delayedStorage(createMemoryStorage({ clock }))],
];

function stepper(passed: Promise<void>): Server<object> {
  return new Server({ name: "t", version: "1" }).tool("steps", {}, async (_args, ctx) => {
    for (let step = 1; step <= 3; step++) ctx.progress(step);
    await passed;
    for (let step = 4; step <= 6; step++) ctx.progress(step);
    return "done";
  });
}

/** One node: a handler with its own endpoint on a store that it may share. */
function node(storage: Storage, server: Server<object>, options: HttpServerOptions = {}) {
  const watched = watch(server);
  const handler = fetchHandler({ ...watched.endpoint, storage }, options);
  return { ...watched, handler, fetch: (request: Request) => handler(request) };
}

const URL_ = "http://localhost/mcp";

describe.each(STORES)("a stream over %s", (_name, makeStore) => {
  it("is resumed after a cut with nothing lost and nothing repeated (HTTP25-25, HTTP25-26)", async () => {
    const { passed, open } = gate();
    const { fetch } = node(makeStore(), stepper(passed));
    const client = new LegacyClient(URL_, { fetch });
    await client.open();
    const reader = new EventReader(await client.call("steps", {}, undefined, { progressToken: "t" }));
    const seen: unknown[] = [];
    let last = "";
    for (let count = 0; count < 2; count++) {
      const message = await reader.message();
      last = message.eventId ?? "";
      seen.push(message["params"]);
    }
    await reader.cancel();
    open();
    const rest = await new EventReader(await client.get({ "last-event-id": last })).rest();
    seen.push(...rest.map((event) => JSON.parse(event.data)).map((message) => message.params ?? message.result));
    expect(seen).toMatchObject(
      [1, 2, 3, 4, 5, 6].map((progress) => ({ progress })).concat([{ content: [{}] } as never]),
    );
    const end = rest.at(-1)?.id ?? "";
    expect((await client.get({ "last-event-id": end })).status).toBe(204);
  });

  it("goes on at another node while its request still runs on the first", async () => {
    const { passed, open } = gate();
    const store = makeStore();
    const first = node(store, stepper(passed));
    const second = node(store, stepper(passed));
    const client = new LegacyClient(URL_, { fetch: first.fetch });
    await client.open();
    const reader = new EventReader(await client.call("steps", {}, undefined, { progressToken: "t" }));
    const { eventId = "" } = await reader.message();
    await reader.cancel();
    const other = new LegacyClient(URL_, { fetch: second.fetch });
    other.sessionId = client.sessionId;
    const resumed = new EventReader(await other.get({ "last-event-id": eventId }));
    expect(await resumed.message()).toMatchObject({ params: { progress: 2 } });
    open();
    const rest = await resumed.rest();
    expect(rest.map((event) => JSON.parse(event.data).params?.progress)).toEqual([3, 4, 5, 6, undefined]);
  });

  it("belongs to one session: ids of another, of no stream and of forgotten events are refused (HTTP25-27)", async () => {
    const { fetch, peers } = node(makeStore(), stepper(Promise.resolve()), { eventLog: { maxEvents: 5 } });
    const client = new LegacyClient(URL_, { fetch });
    const other = new LegacyClient(URL_, { fetch });
    await client.open();
    await other.open();
    const events = await new EventReader(await client.call("steps", {}, undefined, { progressToken: "t" })).rest();
    const [first, second] = events;
    expect((await other.get({ "last-event-id": second?.id ?? "" })).status).toBe(400);
    // Seven events and a priming one do not fit into five.
    const evicted = await client.get({ "last-event-id": first?.id ?? "" });
    expect(evicted.status).toBe(400);
    expect(await evicted.json()).toMatchObject({ error: { code: -32600, data: { reason: "evicted" } } });
    for (const id of ["x", "s.", "s.-1", "s.99", "abc.0", "abc.1", "s.1.last.last", "../s.0", "s.1e3", "\u00e9"]) {
      expect((await client.get({ "last-event-id": id })).status, id).toBe(400);
    }
    expect(peers.size).toBe(2);
  });

  it("is closed by `pause` and picked up again, with a word on when (HTTP25-12)", async () => {
    const { passed, open } = gate();
    const server = stepper(passed);
    const { fetch, exchanges } = node(makeStore(), server);
    const client = new LegacyClient(URL_, { fetch });
    await client.open();
    const reader = new EventReader(await client.call("steps", {}, undefined, { progressToken: "t" }));
    const { eventId = "" } = await reader.message();
    exchanges.at(-1)?.pause?.(25);
    await reader.rest();
    expect(reader.raw).toContain("retry: 25\n");
    open();
    const rest = await new EventReader(await client.get({ "last-event-id": eventId })).rest();
    expect(rest.map((event) => JSON.parse(event.data).params?.progress)).toEqual([2, 3, 4, 5, 6, undefined]);
  });

  it("is not closed on clients of revisions that take a closed stream for a failure (HTTP25-12)", async () => {
    const paused: boolean[] = [];
    const server = new Server({ name: "t", version: "1" }).tool("pausing", {}, (_args, ctx) => {
      ctx.progress(1);
      paused.push(ctx.http?.pause(5) ?? true);
      return Promise.resolve("done");
    });
    const { fetch } = node(makeStore(), server);
    for (const revision of ["2025-06-18", "2025-03-26", "2025-11-25"]) {
      const client = new LegacyClient(URL_, { fetch });
      await client.open(revision);
      const reader = new EventReader(await client.call("pausing", {}, undefined, { progressToken: "t" }));
      const events = await reader.rest();
      const isNew = revision === "2025-11-25";
      expect(paused.pop(), revision).toBe(isNew);
      expect(reader.raw.includes("retry:"), revision).toBe(isNew);
      expect(events.at(-1)?.data.includes("done"), revision).toBe(!isNew);
    }
  });

  it("is taken over from a connection that its client has given up", async () => {
    const { fetch, peers } = node(makeStore(), stepper(Promise.resolve()));
    const client = new LegacyClient(URL_, { fetch });
    await client.open();
    const stale = new EventReader(await client.get());
    const [peer] = peers;
    peer?.send(note(1));
    const { eventId = "" } = await stale.message();
    const fresh = new EventReader(await client.get({ "last-event-id": eventId }));
    expect(await stale.rest()).toEqual([]);
    peer?.send(note(2));
    expect(await fresh.message()).toMatchObject({ params: { data: 2 } });
    await fresh.cancel();
  });

  it("loses and repeats nothing over 20,000 events, random cuts, changes of node and restarts", async () => {
    const store = makeStore();
    const nodes = [0, 1].map(() => node(store, stepper(Promise.resolve())));
    const client = new LegacyClient(URL_, { fetch: (request) => pick().fetch(request) });
    const random = lcg(7);
    const pick = () => nodes[Math.floor(random() * nodes.length)] ?? fail();
    await client.open();
    const total = 20_000;
    let said = 0;
    let received = 0;
    let last: string | undefined;
    let cuts = 0;
    // One node speaks at a time, wherever the client listens: between nodes no order is promised.
    let speaker = nodes.flatMap(({ peers }) => [...peers]).at(0);
    while (received < total) {
      const reader = new EventReader(await client.get(last === undefined ? {} : { "last-event-id": last }));
      if (last === undefined) last = (await reader.next())?.id;
      await waitUntil(() => nodes.some(({ peers }) => peers.size > 0));
      speaker ??= nodes.flatMap(({ peers }) => [...peers]).at(0);
      const restarts = cuts % 40 === 39;
      const until = restarts ? said : Math.min(total, received + 100 + Math.floor(random() * 200));
      while (received < until) {
        for (let burst = 0; burst < 20 && !restarts && said < Math.min(total, received + 300); burst++) {
          speaker?.send(note(++said));
        }
        const message = await reader.message();
        received++;
        if ((message["params"] as { data: number }).data !== received) throw new Error(`event ${received} is wrong`);
        last = message.eventId;
      }
      await reader.cancel();
      cuts++;
      if (restarts) {
        for (const old of nodes.splice(0)) old.handler.close();
        nodes.push(...[0, 1].map(() => node(store, stepper(Promise.resolve()))));
        speaker = undefined;
      }
    }
    expect(received).toBe(total);
    expect(cuts).toBeGreaterThan(60);
  }, 240_000);
});

describe.each(ADAPTERS)("a cut through %s", (_name, start) => {
  it("is no cancellation in the handshake era (HTTP25-16)", async () => {
    const { passed, open } = gate();
    const watched = watch(stepper(passed));
    const served = await start(watched.endpoint);
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open();
    const reader = new EventReader(await client.call("steps", {}, undefined, { progressToken: "t" }));
    const { eventId = "" } = await reader.message();
    await reader.cancel();
    const resumed = new EventReader(await client.get({ "last-event-id": eventId }));
    expect(watched.exchanges.at(-1)?.signal.aborted).toBe(false);
    open();
    expect((await resumed.rest()).length).toBe(6);
  });
});

/** A small generator of numbers in [0, 1) that gives the same ones in every run. */
function lcg(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function fail(): never {
  throw new Error("there is no node");
}
