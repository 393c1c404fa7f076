import type { ServerResponse } from "node:http";
import { connect, Server } from "@parley/mcp";
import { afterEach, describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.js";
import type { Storage } from "../../src/storage/storage.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { impatient } from "../client/impatient.js";
import { greetsIn, STATEFUL, STATELESS, scriptedPipe } from "../client/scripted-pipe.js";
import { fakeTime } from "../http/fake-time.js";
import {
  type Arrived,
  event,
  json,
  result,
  type ScriptedServer,
  scriptedServer,
  stream,
} from "../http-client/scripted-server.js";
import { until, virtualTime } from "../http-client/virtual-time.js";
import { simulate } from "./simulate.js";

// Each of these was found by a seed of the simulation; here is what that seed showed, alone and with real sockets.

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A stateful server whose script sees each POST first; `sessions` are those that live. */
async function stateful(first: (request: Arrived, sessions: Set<string>) => "break" | "forget" | undefined) {
  const sessions = new Set<string>();
  const streams = new Set<object>();
  let count = 0;
  const server = await scriptedServer((request, response) => {
    const { message, headers, method } = request;
    const session = String(headers["mcp-session-id"]);
    const verdict = method === "POST" ? first(request, sessions) : undefined;
    if (verdict === "break") return void response.destroy();
    if (verdict === "forget") sessions.clear();
    if (method === "DELETE") return void response.writeHead(sessions.delete(session) ? 204 : 404).end();
    if (message?.method === "initialize") {
      sessions.add(`s${++count}`);
      const capabilities = { tools: {}, resources: { subscribe: true } };
      const greeting = { protocolVersion: STATEFUL, capabilities, serverInfo: { name: "s", version: "1" } };
      return json(response, result(request, greeting), 200, { "mcp-session-id": `s${count}` });
    }
    if (!sessions.has(session)) return void response.writeHead(404).end();
    if (method === "GET") {
      streams.add(response);
      response.on("close", () => streams.delete(response));
      return stream(response);
    }
    if (message?.id === undefined) return void response.writeHead(202).end();
    json(response, result(request, { content: [] }));
  });
  open.push(server);
  return { server, sessions, streams };
}

const count = ({ requests }: ScriptedServer, method: string) =>
  requests.filter(({ message }) => message?.method === method).length;

/** A stateless server whose streams of changes say what they are told to. */
async function listeningServer() {
  const listens: { request: Arrived; response: ServerResponse }[] = [];
  const server = await scriptedServer((request, response) => {
    if (request.message?.method === "server/discover") {
      const capabilities = { resources: { subscribe: true } };
      return json(response, result(request, { supportedVersions: [STATELESS], capabilities }));
    }
    stream(response);
    listens.push({ request, response });
  });
  open.push(server);
  const say = (at: number, method: string, params: object) => {
    const { request, response } = listens[at] ?? {};
    const _meta = { "io.modelcontextprotocol/subscriptionId": request?.message?.id };
    response?.write(event({ jsonrpc: "2.0", method, params: { ...params, _meta } }));
  };
  return {
    server,
    listens,
    say,
    acknowledge(at: number) {
      const asked = listens[at]?.request.message?.params as { notifications: object } | undefined;
      say(at, "notifications/subscriptions/acknowledged", { notifications: asked?.notifications });
    },
    listening: (count: number) => server.arrived(count, ({ message }) => message?.method === "subscriptions/listen"),
  };
}

describe("what simulated runs found", () => {
  it("a handshake that breaks half way leaves no session and no stream behind", async () => {
    let greetings = 0;
    const { server, sessions, streams } = await stateful(({ message }) => {
      if (message?.method === "tools/call" && greetings === 1) return "forget";
      if (message?.method !== "notifications/initialized") return undefined;
      return ++greetings === 2 ? "break" : undefined;
    });
    const client = await connect(server.url, { revisions: [STATEFUL], platform: impatient });
    await client.callTool("work");
    expect(count(server, "initialize")).toBe(3);
    expect([...sessions]).toEqual(["s3"]);
    await client.close();
    expect([...sessions]).toEqual([]);
    await expect.poll(() => streams.size).toBe(0);
  });

  it("a subscription outlives a recovery whose first attempt to subscribe again breaks", async () => {
    let subscribed = 0;
    const { server } = await stateful(({ message }) => {
      if (message?.method === "tools/call" && subscribed === 1) return "forget";
      return message?.method === "resources/subscribe" && ++subscribed === 2 ? "break" : undefined;
    });
    const client = await connect(server.url, { revisions: [STATEFUL], platform: impatient });
    open.push(client);
    const subscription = await client.subscribe("file:///x");
    await client.callTool("work");
    expect(client.state).toBe("ready");
    expect(count(server, "resources/subscribe")).toBe(3);
    const next = await subscription[Symbol.asyncIterator]().next();
    expect(next.value).toEqual({ kind: "resource", uri: "file:///x", missed: true });
  });

  it("a new session is asked for a resource that only the former one had been asked for", async () => {
    const server = scriptedPipe((message, pipe) => {
      if (!greetsIn("stateful", message, pipe)) pipe.answer(message, {});
    });
    const client = await connect(server, { revisions: [STATEFUL], platform: impatient });
    open.push(client);
    const subscription = await client.subscribe("file:///x");
    // Then nobody is left to subscribe again for.
    client.on("state", ({ state }) => {
      if (state === "recovering") void subscription.close();
    });
    server.pipes[0]?.end();
    await until(() => server.pipes.length === 2 && client.state === "ready");
    await client.subscribe("file:///x");
    const asked = server.pipes.map(
      ({ heard }) => heard.filter(({ method }) => method === "resources/subscribe").length,
    );
    expect(asked).toEqual([1, 1]);
  });

  it("a stream that is opened again does not take the place of a wider one that was opened meanwhile", async () => {
    const { server, listens, listening, say, acknowledge } = await listeningServer();
    const client = await connect(server.url, { platform: impatient });
    open.push(client);
    const first = client.subscribe("file:///x");
    await listening(1);
    acknowledge(0);
    await first;
    listens[0]?.response.destroy();
    await listening(2);
    const second = client.subscribe("file:///y");
    await listening(3);
    acknowledge(2);
    const subscription = await second;
    acknowledge(1);
    await new Promise<void>((resolve) => listens[1]?.response.once("close", resolve));
    say(2, "notifications/resources/updated", { uri: "file:///y" });
    const changes = subscription[Symbol.asyncIterator]();
    // What may have been missed while the stream was broken may be told first.
    let next = await changes.next();
    if (next.value?.missed === true) next = await changes.next();
    expect(next.value).toEqual({ kind: "resource", uri: "file:///y", missed: false });
  });

  it("a stream of changes that breaks tells what may have been missed, also to a client that replays everything", async () => {
    const { server, listens, listening, acknowledge } = await listeningServer();
    const client = await connect(server.url, { platform: impatient, resend: "always" });
    open.push(client);
    const subscribed = client.subscribe("file:///x");
    await listening(1);
    acknowledge(0);
    const subscription = await subscribed;
    listens[0]?.response.destroy();
    await listening(2);
    acknowledge(1);
    const next = await subscription[Symbol.asyncIterator]().next();
    expect(next.value).toEqual({ kind: "resource", uri: "file:///x", missed: true });
  });

  it("a call that waits to be sent again does not overtake the handshake that another call needs", async () => {
    const time = virtualTime();
    let greet: (() => void) | undefined;
    let greetings = 0;
    const server = await scriptedServer((request, response) => {
      const { message, method } = request;
      if (method !== "POST") return void response.writeHead(405).end();
      if (message?.method === "initialize") {
        const greeting = {
          protocolVersion: STATEFUL,
          capabilities: { tools: {} },
          serverInfo: { name: "s", version: "1" },
        };
        const answer = () => json(response, result(request, greeting), 200, { "mcp-session-id": `s${greetings}` });
        if (++greetings === 1) return answer();
        greet = answer;
        return;
      }
      if (message?.id === undefined) return void response.writeHead(202).end();
      if (request.headers["mcp-session-id"] === "s2") return json(response, result(request, { content: [] }));
      // In the first session one tool loses its connection and the other one the session.
      if ((message.params as { name: string }).name === "broken") response.destroy();
      else response.writeHead(404).end();
    });
    open.push(server);
    const client = await connect(server.url, { revisions: [STATEFUL], resend: "always", platform: time.platform });
    open.push(client);
    const before = time.pending();
    const broken = client.callTool("broken");
    await until(() => time.pending() > before + 1);
    const forgotten = client.callTool("forgotten");
    await until(() => greet !== undefined);
    expect(client.state).toBe("recovering");
    while (time.next(1_000));
    greet?.();
    await Promise.all([broken, forgotten]);
    const calls = server.requests.filter(({ message }) => message?.method === "tools/call");
    expect(calls.map(({ headers }) => headers["mcp-session-id"])).toEqual(["s1", "s1", "s2", "s2"]);
  });

  it("a server that has drained holds its process no longer", async () => {
    const time = fakeTime();
    let finish: (text: string) => void = () => {};
    const server = new Server({ name: "slow", version: "1" }).tool(
      "slow",
      {},
      () =>
        new Promise<string>((resolve) => {
          finish = resolve;
        }),
    );
    const handler = fetchHandler(server, { platform: time.platform });
    const client = await connect("http://localhost/drains", {
      fetch: (url, init) => handler(new Request(url, init)),
      revisions: [STATELESS],
    });
    open.push(client);
    const call = client.call("slow");
    await expect.poll(() => time.pending()).toBe(1);
    const drained = handler.drain(5_000);
    finish("done");
    await drained;
    expect(await call).toBe("done");
    handler.close();
    expect(time.pending()).toBe(0);
  });

  it("a call that waits for the user's answer ends with its client", async () => {
    const server = new Server({ name: "asks", version: "1" }).tool("ask", {}, async (_, ctx) => {
      await ctx.elicit("Well?", { type: "object", properties: {} });
      return "done";
    });
    let asked: () => void = () => {};
    const question = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const client = await connect(server, {
      onElicit() {
        asked();
        return new Promise(() => {});
      },
    });
    const call = client.call("ask");
    await question;
    await client.close();
    await expect(call).rejects.toMatchObject({ kind: "connection_closed" });
  });

  it.each([STATEFUL, STATELESS] as const)(
    "a question that is open when its client closes leaves no timer behind (%s)",
    async (revision) => {
      const time = virtualTime();
      const server = new Server({ name: "asks", version: "1" }).tool("ask", {}, async (_, ctx) => {
        await ctx.elicit("Well?", { type: "object", properties: {} });
        return "done";
      });
      let asked = false;
      const onElicit = () => {
        asked = true;
        return new Promise<never>(() => {});
      };
      const client = await connect(server, { revisions: [revision], platform: time.platform, onElicit });
      const call = client.call("ask");
      await until(() => asked);
      await client.close();
      await expect(call).rejects.toMatchObject({ kind: "connection_closed" });
      expect(time.pending()).toBe(0);
    },
  );

  it("a server that drains waits for an answer that a slow storage still holds", async () => {
    const { kv, log, pubsub } = createMemoryStorage({ clock: { now: () => Date.now() } });
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let holds = false;
    const storage: Storage = {
      kv,
      pubsub,
      log: {
        append: async (stream, entry, limits) => {
          if (holds) await held;
          return log.append(stream, entry, limits);
        },
        read: (stream, afterId, limit) => log.read(stream, afterId, limit),
        touch: (stream, ttlMs) => log.touch(stream, ttlMs),
        drop: (stream) => log.drop(stream),
      },
    };
    const server = new Server({ name: "slow", version: "1" }, { storage }).tool("report", {}, (_, ctx) => {
      ctx.progress(1);
      holds = true;
      return "done";
    });
    const handler = fetchHandler(server);
    const client = await connect("http://localhost/drains-late", {
      fetch: (url, init) => handler(new Request(url, init)),
      revisions: [STATEFUL],
      resend: "never",
    });
    open.push(client);
    const call = client.call("report", {}, { onProgress() {} });
    await until(() => holds);
    const drained = handler.drain(5_000);
    setTimeout(release, 50);
    await drained;
    handler.close();
    expect(await call).toBe("done");
  });

  // The last one: between two rounds the server came back in a revision that cannot continue them, and the call began anew.
  it.each([4341, 6331, 6525, 7393])("seed %i keeps every rule", async (seed) => {
    expect((await simulate(seed)).violations).toEqual([]);
  });
});
