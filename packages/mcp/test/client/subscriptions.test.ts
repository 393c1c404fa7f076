import { connect, Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";
import type { Change } from "../../src/client/changes/change-queue.js";
import type { Subscription } from "../../src/client/changes/subscriptions.js";
import type { Revision } from "../../src/protocol/revisions.js";
import { until } from "../http-client/virtual-time.js";
import { impatient } from "./impatient.js";
import { greetsIn, type Heard, memberOf, type Pipe, STATEFUL, STATELESS, scriptedPipe } from "./scripted-pipe.js";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Collects what a subscription tells, until it ends. */
function collect(subscription: Subscription) {
  const changes: Change[] = [];
  let over: unknown;
  void (async () => {
    try {
      for await (const change of subscription) changes.push(change);
      over = "ended";
    } catch (error) {
      over = error;
    }
  })();
  return { changes, over: () => over };
}

function library() {
  return new Server({ name: "library", version: "1" })
    .tool("read", {}, () => "x")
    .resource("file:///a", { name: "a" }, () => "a")
    .resource("file:///b", { name: "b" }, () => "b");
}

const revisions: Record<string, Revision> = { stateful: STATEFUL, stateless: STATELESS };
for (const [era, revision] of Object.entries(revisions)) {
  for (const transport of ["in-memory", "http"]) {
    describe(`subscriptions over ${transport}, ${era}`, () => {
      async function connected() {
        const server = library();
        let target: string | typeof server = server;
        if (transport === "http") {
          const handle = await serveHttp(server, { port: 0 });
          open.push(handle);
          target = handle.url;
        }
        const client = await connect(target as typeof server, { revisions: [revision] });
        open.push(client);
        return { server, client };
      }

      it("tell the changes of what was asked for, and of nothing else", async () => {
        const { server, client } = await connected();
        const a = collect(await client.subscribe("file:///a"));
        const both = collect(await client.subscribe(["file:///a", "file:///b"]));
        const lists = collect(await client.subscribe({ tools: true }));
        await until(() => {
          if (a.changes.length === 0) server.resourceUpdated("file:///a");
          return a.changes.length > 0 && both.changes.length > 0;
        });
        server.resourceUpdated("file:///b");
        await until(() => both.changes.some(({ uri }) => uri === "file:///b"));
        server.tool("more", {}, () => "y");
        await until(() => lists.changes.length > 0);
        expect(a.changes.every(({ uri }) => uri === "file:///a")).toBe(true);
        expect(lists.changes).toEqual([{ kind: "tools", missed: false }]);
      });

      it("end when they are closed, by close, by leaving the loop and by await using's method", async () => {
        const { client } = await connected();
        const first = await client.subscribe("file:///a");
        const watched = collect(first);
        await first.close();
        await until(() => watched.over() === "ended");
        const second = await client.subscribe("file:///a");
        await second[Symbol.asyncDispose]();
        expect(await second[Symbol.asyncIterator]().next()).toEqual({ value: undefined, done: true });
      });

      it("end with the client", async () => {
        const { client } = await connected();
        const watched = collect(await client.subscribe("file:///a"));
        await client.close();
        await until(() => watched.over() === "ended");
      });
    });
  }
}

/** A stateless server whose listen streams the test conducts. */
async function listening(options: { acknowledge?: (filter: object) => object | undefined } = {}) {
  const streams: { message: Heard; pipe: Pipe; filter: Record<string, unknown> }[] = [];
  const server = scriptedPipe((message, pipe) => {
    if (greetsIn("stateless", message, pipe)) return;
    if (message.method !== "subscriptions/listen") return pipe.answer(message, { tools: [] });
    const filter = memberOf(message, "notifications");
    streams.push({ message, pipe, filter });
    const notifications = (options.acknowledge ?? ((all) => all))(filter);
    if (notifications !== undefined) tell(pipe, message, "notifications/subscriptions/acknowledged", { notifications });
  });
  const warnings: string[] = [];
  const client = await connect(server, { platform: impatient, onWarning: (text) => warnings.push(text) });
  open.push(client);
  return { client, server, streams, warnings };
}

function tell(pipe: Pipe, { id }: Heard, method: string, params: object = {}): void {
  const _meta = { "io.modelcontextprotocol/subscriptionId": id };
  pipe.say({ jsonrpc: "2.0", method, params: { ...params, _meta } });
}

const cancels = (server: { heard(): Heard[] }) =>
  server.heard().flatMap(({ method, params }) => (method === "notifications/cancelled" ? [params?.["requestId"]] : []));

describe("one listen stream for all subscriptions", () => {
  it("SUB-01: a wider one takes the place of the narrower one, which is then cancelled", async () => {
    const { client, server, streams } = await listening();
    await client.subscribe("file:///a");
    await client.subscribe({ tools: true });
    await turn();
    expect(streams.map(({ filter }) => filter)).toEqual([
      { resourceSubscriptions: ["file:///a"] },
      { toolsListChanged: true, resourceSubscriptions: ["file:///a"] },
    ]);
    expect(cancels(server)).toEqual([streams[0]?.message.id]);
  });

  it("what is asked for already costs no message", async () => {
    const { client, streams } = await listening();
    await client.subscribe(["file:///a", "file:///b"]);
    await client.subscribe("file:///b");
    expect(streams).toHaveLength(1);
  });

  it("SUB-07: the last one that leaves ends the stream", async () => {
    const { client, server, streams } = await listening();
    const a = await client.subscribe("file:///a");
    const b = await client.subscribe("file:///a");
    await a.close();
    expect(cancels(server)).toEqual([]);
    await b.close();
    await turn();
    expect(cancels(server)).toEqual([streams[0]?.message.id]);
  });

  it("SUB-05: only notifications of the stream in use count", async () => {
    const { client, streams } = await listening();
    const watched = collect(await client.subscribe("file:///a"));
    const { pipe, message } = streams[0] as (typeof streams)[0];
    pipe.say({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "file:///a" } });
    tell(pipe, { ...message, id: "foreign" }, "notifications/resources/updated", { uri: "file:///a" });
    await turn();
    expect(watched.changes).toEqual([]);
    tell(pipe, message, "notifications/resources/updated", { uri: "file:///a/part" });
    tell(pipe, message, "notifications/resources/updated", { uri: "file:///abc" });
    await until(() => watched.changes.length > 0);
    expect(watched.changes).toEqual([{ kind: "resource", uri: "file:///a/part", missed: false }]);
  });

  it("SUB-04: a part that the server does not agree to is told by `accepted` and a warning", async () => {
    const { client, warnings } = await listening({ acknowledge: () => ({ toolsListChanged: true }) });
    const { accepted } = await client.subscribe({ tools: true, prompts: true });
    expect(accepted).toEqual({ toolsListChanged: true });
    expect(warnings).toHaveLength(1);
  });

  it("SUB-04: nothing agreed to is a missing capability", async () => {
    const { client } = await listening({ acknowledge: () => ({}) });
    await expect(client.subscribe("file:///a")).rejects.toMatchObject({ kind: "capability_missing" });
  });

  it("a stream that is never acknowledged is given up at the idle deadline, and cancelled", async () => {
    const server = scriptedPipe((message, pipe) => void greetsIn("stateless", message, pipe));
    const client = await connect(server, { timeouts: { idleMs: 30 } });
    open.push(client);
    await expect(client.subscribe("file:///a")).rejects.toMatchObject({ kind: "timeout" });
    await turn();
    expect(cancels(server)).toHaveLength(1);
  });

  const ends: Record<string, (stream: { pipe: Pipe; message: Heard }) => void> = {
    "a result": ({ pipe, message }) => pipe.answer(message, { resultType: "complete" }),
    "notifications/cancelled": ({ pipe, message }) =>
      pipe.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: message.id } }),
    "both, the result first": (stream) => {
      ends["a result"]?.(stream);
      ends["notifications/cancelled"]?.(stream);
    },
    "both, the notice first": (stream) => {
      ends["notifications/cancelled"]?.(stream);
      ends["a result"]?.(stream);
    },
  };
  for (const [name, end] of Object.entries(ends)) {
    it(`SUB-10: ${name} ends the subscription in good order`, async () => {
      const { client, streams } = await listening();
      const watched = collect(await client.subscribe("file:///a"));
      end(streams[0] as (typeof streams)[0]);
      await until(() => watched.over() === "ended");
      await client.listTools();
      expect(streams).toHaveLength(1);
    });
  }

  it("SUB-10, SUB-11: a lost connection brings the stream back, and tells what may have been missed", async () => {
    const { client, server, streams } = await listening();
    const watched = collect(await client.subscribe({ resources: "file:///a", tools: true }));
    server.pipes[0]?.end();
    await until(() => watched.changes.length === 2);
    expect(watched.changes).toEqual([
      { kind: "resource", uri: "file:///a", missed: true },
      { kind: "tools", missed: true },
    ]);
    expect(streams).toHaveLength(2);
    const { pipe, message } = streams[1] as (typeof streams)[0];
    tell(pipe, message, "notifications/tools/list_changed");
    await until(() => watched.changes.length === 3);
    expect(watched.changes[2]).toEqual({ kind: "tools", missed: false });
  });

  it("an error of the server ends the subscription with that error", async () => {
    const { client, streams } = await listening();
    const watched = collect(await client.subscribe("file:///a"));
    const { pipe, message } = streams[0] as (typeof streams)[0];
    pipe.refuse(message, -32603, "out of memory");
    await until(() => watched.over() !== undefined);
    expect(watched.over()).toMatchObject({ kind: "internal_error", message: "out of memory" });
  });

  it("without a capability for it nothing is sent", async () => {
    const server = scriptedPipe(
      (message, pipe) => void greetsIn("stateless", message, pipe, { resources: {}, tools: {} }),
    );
    const client = await connect(server);
    open.push(client);
    await expect(client.subscribe("file:///a")).rejects.toMatchObject({ kind: "capability_missing" });
    await expect(client.subscribe({ tools: true })).rejects.toMatchObject({ kind: "capability_missing" });
    expect(server.methods()).toEqual(["server/discover"]);
  });

  it("the client can be closed from inside the loop", async () => {
    const { client, streams } = await listening();
    const subscription = await client.subscribe("file:///a");
    const { pipe, message } = streams[0] as (typeof streams)[0];
    tell(pipe, message, "notifications/resources/updated", { uri: "file:///a" });
    for await (const _change of subscription) await client.close();
    expect(client.state).toBe("closed");
  });
});

describe("subscriptions in a session", () => {
  async function session() {
    const server = scriptedPipe((message, pipe) => {
      if (!greetsIn("stateful", message, pipe)) pipe.answer(message, {});
    });
    const client = await connect(server, { platform: impatient });
    open.push(client);
    const asked = () =>
      server
        .heard()
        .flatMap(({ method, params }) =>
          method?.startsWith("resources/") ? [`${method.slice(10)} ${params?.["uri"]}`] : [],
        );
    return { client, server, asked };
  }

  it("RES-07: each resource is subscribed to once and given back by the last reader", async () => {
    const { client, asked } = await session();
    const first = await client.subscribe(["a:1", "a:2"]);
    const second = await client.subscribe("a:1");
    expect(asked()).toEqual(["subscribe a:1", "subscribe a:2"]);
    await first.close();
    expect(asked().slice(2)).toEqual(["unsubscribe a:2"]);
    await second.close();
    expect(asked().slice(3)).toEqual(["unsubscribe a:1"]);
  });

  it("a lost connection subscribes again", async () => {
    const { client, server, asked } = await session();
    const watched = collect(await client.subscribe("a:1"));
    server.pipes[0]?.end();
    await until(() => watched.changes.length === 1);
    expect(asked()).toEqual(["subscribe a:1", "subscribe a:1"]);
  });

  it("the same change twice before it is read is one change; a thousand different ones are kept at most", async () => {
    const { client, server } = await session();
    const subscription = await client.subscribe("a:");
    const updated = (uri: string) =>
      server.pipes[0]?.say({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } });
    for (let round = 0; round < 5; round++) updated("a:");
    await turn();
    const iterator = subscription[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ uri: "a:" });
    for (let part = 0; part < 1500; part++) updated(`a:/${part}`);
    await turn();
    await subscription.close();
    let [kept, marks] = [0, 0];
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      if (next.value.uri === undefined && next.value.missed) marks++;
      else kept++;
    }
    expect([kept, marks]).toEqual([999, 1]);
  });
});
