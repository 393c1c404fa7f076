import { describe, expect, it, vi } from "vitest";
import { Server } from "../../src/server/server.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { faultyStorage } from "../extensions/tasks/faulty-storage.js";
import { gate } from "../extensions/tasks/nodes.js";
import { severalNodes, WITH_PROGRESS } from "../nodes/several-nodes.js";
import { fakeTime } from "./fake-time.js";
import { EventReader, LegacyClient } from "./legacy-client.js";
import { ADAPTERS } from "./serving.js";

const ADDRESS = "http://localhost:3000/mcp";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
};

// Found by a seed of the simulation of tasks.
describe("a session that its client ends", () => {
  it("is not opened again by a GET request that was on its way", async () => {
    const storage = faultyStorage();
    const server = new Server({ name: "s", version: "1" }, { storage });
    const handler = fetchHandler(server);
    const send = (method: string, headers: Record<string, string>, body?: object) =>
      handler(
        new Request(ADDRESS, {
          method,
          headers: {
            "content-type": "application/json",
            accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
            ...headers,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      );
    const greeting = await send("POST", {}, INITIALIZE);
    const headers = {
      "mcp-session-id": greeting.headers.get("mcp-session-id") ?? "",
      "mcp-protocol-version": "2025-11-25",
    };
    await greeting.text();
    await (await send("POST", headers, { jsonrpc: "2.0", method: "notifications/initialized" })).text();
    expect(server.sessions()).toHaveLength(1);
    const reached = gate();
    const goes = gate();
    let held = 0;
    storage.after = async (operation) => {
      // After the session itself, where its stream goes on.
      if (operation !== "get" || held++ !== 1) return;
      reached.open();
      await goes.opened;
    };
    const reading = send("GET", headers);
    await reached.opened;
    expect((await send("DELETE", headers)).status).toBe(204);
    goes.open();
    await (await reading).body?.cancel();
    expect(server.sessions()).toEqual([]);
    await handler.close();
    await server.close();
  });
});

const ENDED = { code: -32603, data: { reason: "session_ended", fix: expect.stringContaining("Open a new session") } };

/** A server whose tools wait until their call is aborted. */
function waiting() {
  const aborted: unknown[] = [];
  const running = gate();
  const wait = async (signal: AbortSignal) => {
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve());
      running.open();
    });
    aborted.push(signal.reason);
    return "too late";
  };
  const server = new Server({ name: "s", version: "1" })
    .tool("quick", {}, () => "quick")
    .tool("slow", {}, (_args, ctx) => wait(ctx.signal))
    .tool("steps", {}, (_args, ctx) => {
      ctx.progress(1);
      return wait(ctx.signal);
    });
  return { server, aborted, running };
}

describe.each(ADAPTERS)("a call whose session ends, through %s", (_name, start) => {
  it.each(["2025-03-26", "2025-06-18", "2025-11-25"])("of %s is answered with an error", async (revision) => {
    const { server, aborted, running } = waiting();
    const served = await start(server, { times: { streamAfterMs: 600_000 } });
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open(revision);
    const call = client.call("slow");
    await running.opened;
    expect((await client.send("DELETE", {})).status).toBe(204);
    const response = await call;
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(await response.json()).toMatchObject({ jsonrpc: "2.0", id: 1, error: ENDED });
    expect(aborted).toEqual([expect.objectContaining({ message: "the session has ended" })]);
    expect((await client.call("quick")).status).toBe(404);
    await served.close();
  });

  it("gets the error on its event stream, also where a GET has resumed it", async () => {
    for (const resumes of [false, true]) {
      const { server, running } = waiting();
      const served = await start(server);
      const client = new LegacyClient(served.url, { fetch: served.fetch });
      await client.open();
      let reader = new EventReader(await client.call("steps", {}, undefined, WITH_PROGRESS));
      const { eventId = "" } = await reader.message();
      await running.opened;
      if (resumes) {
        await reader.cancel();
        reader = new EventReader(await client.get({ "last-event-id": eventId }));
      }
      expect((await client.send("DELETE", {})).status).toBe(204);
      const events = await reader.rest();
      expect(JSON.parse(events.at(-1)?.data ?? "")).toMatchObject({ id: 1, error: ENDED });
      await served.close();
    }
  });

  it.each([
    ["one reply", false],
    ["an event stream", true],
  ])("is answered like every other of its array, in %s", async (_form, streams) => {
    const { server, running } = waiting();
    const served = await start(server, { times: { streamAfterMs: 600_000 } });
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open("2025-03-26");
    const call = (id: number, name: string) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name, _meta } });
    const _meta = WITH_PROGRESS;
    const array = client.post([call(1, "quick"), call(2, streams ? "steps" : "slow"), call(3, "slow")]);
    await running.opened;
    expect((await client.send("DELETE", {})).status).toBe(204);
    const response = await array;
    const answers = streams
      ? (await new EventReader(response).rest()).flatMap(({ data }) => (data === "" ? [] : [JSON.parse(data)]))
      : await response.json();
    const byId = new Map(answers.map((answer: { id?: number }) => [answer.id, answer]));
    expect(byId.get(1)).toMatchObject({ result: {} });
    for (const id of [2, 3]) expect(byId.get(id)).toMatchObject({ id, error: ENDED });
    await served.close();
  });

  it("is not left without an answer when the server closes", async () => {
    const { server, running } = waiting();
    const served = await start(server, { times: { streamAfterMs: 600_000 } });
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open();
    const call = client.call("slow");
    await running.opened;
    await served.close();
    // Where the connection is cut, there is no reply at all; an empty one would be taken for an acknowledgement.
    const response = await call.catch(() => undefined);
    if (response !== undefined) expect(await response.json()).toMatchObject({ error: { data: { reason: "closing" } } });
  });
});

describe("a call on an event stream of a server without a storage to share", () => {
  it.each(["close", "drain"] as const)(
    "is answered with an error by `%s`: no other process can continue it",
    async (end) => {
      const { server, running } = waiting();
      const handler = fetchHandler(server);
      const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => handler(request) });
      await client.open();
      const reader = new EventReader(await client.call("steps", {}, undefined, WITH_PROGRESS));
      await running.opened;
      if (end === "drain") await handler.drain(0);
      await handler.close();
      const events = await reader.rest();
      expect(JSON.parse(events.at(-1)?.data ?? "")).toMatchObject({ id: 1, error: { data: { reason: "closing" } } });
    },
  );
});

describe("a call on another node than the one where its session ends", () => {
  it("is answered with an error, where it runs and where it was resumed", async () => {
    const { client, use, close } = severalNodes(3, { times: { streamAfterMs: 600_000 } });
    use(0);
    await client.open();
    const first = new EventReader(await client.call("steps", {}, undefined, WITH_PROGRESS));
    await first.message();
    const second = new EventReader(await client.call("steps", {}, undefined, WITH_PROGRESS));
    const { eventId = "" } = await second.message();
    await second.cancel();
    const { storage } = use(1);
    const resumed = new EventReader(await client.get({ "last-event-id": eventId }));
    // The node has looked which requests of the stream have no answer.
    await vi.waitUntil(() => storage.calls.some((call) => call.startsWith("get http/t/node/")), { timeout: 20_000 });
    use(2);
    expect((await client.send("DELETE", {})).status).toBe(204);
    for (const [reader, id] of [
      [first, 1],
      [resumed, 2],
    ] as const) {
      const events = await reader.rest();
      expect(JSON.parse(events.at(-1)?.data ?? "")).toMatchObject({ id, error: ENDED });
    }
    await close();
  });
});

describe("a session that its handler ends", () => {
  it.each([
    ["the answer is sent", 0],
    ["a call that does not end has had two seconds for its answer", 2000],
  ])("ends when %s, and not before", async (_when, ms) => {
    const time = fakeTime();
    const [entered, held] = [gate(), gate()];
    const server = new Server({ name: "s", version: "1" }).tool("leave", {}, async (_args, ctx) => {
      ctx.session?.end();
      entered.open();
      await held.opened;
      return "left";
    });
    const handler = fetchHandler(server, { platform: time.platform });
    const client = new LegacyClient(ADDRESS, { fetch: handler });
    await client.open();
    const answer = client.call("leave");
    await entered.opened;
    time.advance(Math.max(0, ms - 1));
    expect(server.sessions()).toHaveLength(1);
    if (ms === 0) held.open();
    else time.advance(1);
    await answer;
    await vi.waitFor(() => expect(server.sessions()).toHaveLength(0));
    expect((await client.call("leave")).status).toBe(404);
    held.open();
    await handler.close();
  });
});
