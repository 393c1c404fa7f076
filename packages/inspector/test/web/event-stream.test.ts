import { type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { InspectorEvent } from "../../src/contract/inspector-state.js";
import { openWebServer, type WebServer } from "../../src/web/web-server.js";
import { builtPage } from "../kit/built-page.js";
import { type InspectorKeys, keysOf } from "../kit/inspector-keys.js";
import { ScriptedEngine } from "../kit/scripted-engine.js";

let engine: ScriptedEngine;
let web: WebServer;
let keys: InspectorKeys;
let streams: IncomingMessage[];

beforeEach(async () => {
  streams = [];
  engine = new ScriptedEngine();
  web = await openWebServer(engine, { port: 0, pageFolder: await builtPage() });
  keys = await keysOf(web.url);
});
afterEach(async () => {
  for (const stream of streams) stream.destroy();
  await web.close();
});

function follow(from = 0): Promise<IncomingMessage> {
  const headers = { host: keys.host, cookie: keys.cookie, "x-parley-token": keys.token };
  return new Promise((resolve, reject) => {
    const asked = request(
      { port: keys.port, host: "127.0.0.1", path: `/api/events?from=${from}`, headers },
      (answer) => {
        streams.push(answer);
        resolve(answer);
      },
    );
    asked.on("error", reject).end();
  });
}

/** Reads events one after another. */
function eventsOf(stream: IncomingMessage): () => Promise<InspectorEvent> {
  const lines = createInterface({ input: stream })[Symbol.asyncIterator]();
  return async () => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error("the stream has ended");
      // The server side of the same package writes these lines.
      if (value !== "") return JSON.parse(value) as InspectorEvent;
    }
  };
}

/** Waits until something is so; it is looked at after every turn of the event loop. */
async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 20_000;
  while (!isSo()) {
    if (performance.now() > end) throw new Error("it never came to be");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("the stream of events", () => {
  it("begins with the state, and goes on with the entries", async () => {
    engine.add(3);
    const next = eventsOf(await follow());
    expect(await next()).toMatchObject({ type: "state", state: { timeline: { first: 0, next: 3 } } });
    expect(await next()).toMatchObject({ type: "entries", dropped: 0, entries: [{ seq: 0 }, { seq: 1 }, { seq: 2 }] });
  });

  it("goes on from the entry that a page has last", async () => {
    engine.add(3);
    const next = eventsOf(await follow(2));
    await next();
    expect(await next()).toMatchObject({ entries: [{ seq: 2 }], dropped: 0 });
  });

  it("sends entries in batches of 500", async () => {
    engine.add(1_200);
    const next = eventsOf(await follow());
    await next();
    const sizes: number[] = [];
    while (sizes.reduce((sum, size) => sum + size, 0) < 1_200) {
      const event = await next();
      if (event.type === "entries") sizes.push(event.entries.length);
    }
    expect(sizes).toEqual([500, 500, 200]);
  });

  it("tells a change of the state", async () => {
    const next = eventsOf(await follow());
    await next();
    engine.version = "9.9.9";
    engine.changed();
    expect(await next()).toMatchObject({ type: "state", state: { version: "9.9.9" } });
  });

  it("sends the state at most every 50 ms, however often it changes", async () => {
    const stream = await follow();
    const next = eventsOf(stream);
    await next();
    const started = performance.now();
    let states = 0;
    while (performance.now() - started < 300) {
      engine.version = `${performance.now()}`;
      engine.changed();
      await new Promise((resolve) => setImmediate(resolve));
    }
    engine.version = "last";
    engine.changed();
    for (;;) {
      const event = await next();
      states += 1;
      if (event.type === "state" && event.state.version === "last") break;
    }
    expect(states).toBeLessThanOrEqual(Math.ceil((performance.now() - started) / 50) + 1);
  });

  it("queues nothing for a page that does not read, and says what that page has missed", async () => {
    const stream = await follow();
    const label = "x".repeat(20_000);
    // More than every buffer between the two holds; the engine keeps the last ten alone.
    for (let round = 0; round < 2_000; round++) {
      engine.add(1, { label, kept: 10 });
      await new Promise((resolve) => setImmediate(resolve));
    }
    const next = eventsOf(stream);
    let [dropped, received] = [0, 0];
    for (let last = -1; last < 1_999; ) {
      const event = await next();
      if (event.type !== "entries") continue;
      dropped += event.dropped;
      received += event.entries.length;
      last = event.entries.at(-1)?.seq ?? last;
    }
    expect(dropped).toBeGreaterThan(0);
    expect(dropped + received).toBe(2_000);
  });

  it("is given to five pages at most, and forgets those that have gone", async () => {
    for (let count = 0; count < 5; count++) expect((await follow()).statusCode).toBe(200);
    expect((await follow()).statusCode).toBe(503);
    streams[0]?.destroy();
    await until(() => engine.followers === 4);
    expect((await follow()).statusCode).toBe(200);
  });

  it("ends when the inspector closes", async () => {
    const stream = await follow();
    const ended = new Promise((resolve) => stream.on("close", resolve));
    stream.resume();
    await web.close();
    await ended;
    expect(engine.followers).toBe(0);
  });

  it("refuses a number that is none", async () => {
    for (const from of ["-1", "x", "1.5", "1e99"])
      expect((await follow(from as unknown as number)).statusCode).toBe(400);
  });
});
