import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { nodeHandler } from "../../src/node/http/handler.js";
import { serveHttp } from "../../src/node/http/serve-http.js";
import { Server } from "../../src/server/server.js";
import type { ListeningHandle } from "../../src/transport/serve-handle.js";
import { LegacyClient } from "./legacy-client.js";
import { modern } from "./modern.js";
import { parseReply, type RawReply, sendRaw } from "./raw-http.js";
import { ADAPTERS } from "./serving.js";
import { gate, waitUntil, watch } from "./watched.js";

const LONG = "x".repeat(8 * 1024 * 1024);
const handles: ListeningHandle[] = [];
let drained: Promise<void> | undefined;

afterEach(async () => {
  await drained;
  drained = undefined;
  for (const handle of handles.splice(0)) await handle.close();
});

const call = modern("tools/call", { name: "drain", arguments: {} });
const head = Object.entries({ ...call.headers, host: "localhost", "content-length": String(call.body.length) });
const raw = `POST /mcp HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}`).join("\r\n")}\r\n\r\n`;

/** A server with a tool that drains what serves it; `end` is filled in once that is known. */
function selfDraining() {
  const parts: { end: () => Promise<void> } = { end: async () => {} };
  const server = new Server({ name: "t", version: "1" })
    .tool("drain", {}, async () => {
      drained ??= parts.end();
      await new Promise((resolve) => setTimeout(resolve, 30));
      return "answered";
    })
    .tool("long", {}, () => LONG);
  return { server, parts };
}

describe.each(ADAPTERS)("drain through %s", (_name, start) => {
  it.each([["2026-07-28"], ["2025-11-25"]])("lets a tool of %s answer that begins it", async (revision) => {
    const { server, parts } = selfDraining();
    const served = await start(server);
    parts.end = () => served.drain(5000);
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    const post = () => served.fetch(new Request(served.url, { method: "POST", ...call }));
    if (revision === "2025-11-25") await client.open();
    const response = await (revision === "2025-11-25" ? client.call("drain") : post());
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("answered")]);
  });

  it("answers what arrived in its own turn", async () => {
    const { server } = selfDraining();
    const { endpoint, exchanges } = watch(server);
    const served = await start(endpoint);
    const reply = served.fetch(new Request(served.url, { method: "POST", ...call }));
    await waitUntil(() => exchanges.length === 1);
    const ended = served.drain(5000);
    expect(await (await reply).text()).toContain("answered");
    await ended;
  });
});

describe("drain of `serveHttp`", () => {
  it("waits for a body that is still arriving", async () => {
    const { server } = selfDraining();
    const { passed, open } = gate();
    const authenticate = () => {
      open();
      return { key: "k" };
    };
    const handle = await serveHttp(server, { port: 0, authenticate });
    handles.push(handle);
    const socket = connect(handle.port, "127.0.0.1", () => socket.write(raw + call.body.slice(0, 10)));
    const reply = new Promise<string>((resolve, reject) => {
      socket.once("data", (chunk) => resolve(chunk.toString()));
      socket.once("close", () => reject(new Error("cut")));
    });
    await passed;
    drained = handle.drain(30_000);
    socket.write(call.body.slice(10));
    expect(await reply).toMatch(/^HTTP\/1.1 200 /);
    socket.destroy();
  });

  it("lets a client read a long reply to its end", async () => {
    const { server } = selfDraining();
    const handle = await serveHttp(server, { port: 0 });
    handles.push(handle);
    const long = modern("tools/call", { name: "long", arguments: {} });
    const response = await fetch(handle.url, { method: "POST", ...long });
    drained = handle.drain(30_000);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await response.text()).length).toBeGreaterThan(LONG.length);
  });

  it("ends at once when nothing is left to wait for", async () => {
    const { server } = selfDraining();
    const handle = await serveHttp(server, { port: 0 });
    await sendRaw(handle.port, raw.replace("POST", "PUT") + call.body);
    // Longer than a test may take.
    await handle.drain(600_000);
  });
});

describe("replies that nobody reads", () => {
  it("are cut, the oldest first, beyond `maxUnsentBytes`", async () => {
    const { server } = selfDraining();
    const warnings: string[] = [];
    const { platform } = await import("../../src/node/platform.js");
    const handle = await serveHttp(server, {
      port: 0,
      limits: { maxUnsentBytes: 20 * 1024 * 1024 },
      platform: { ...platform, warn: (message) => void warnings.push(message) },
    });
    handles.push(handle);
    const long = modern("tools/call", { name: "long", arguments: {} });
    const { body } = long;
    const lines = Object.entries({ ...long.headers, host: "localhost", "content-length": String(body.length) });
    const bytes = `POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}`).join("\r\n")}\r\n\r\n${body}`;
    const closed: number[] = [];
    const idle = Array.from({ length: 5 }, (_, index) => {
      const socket = connect(handle.port, "127.0.0.1", () => socket.write(bytes));
      socket.pause();
      socket.on("error", () => closed.push(index)).on("close", () => closed.push(index));
      return socket;
    });
    await waitUntil(() => warnings.length > 0);
    expect(warnings).toEqual([expect.stringContaining("maxUnsentBytes")]);
    // A client that reads is served all the while.
    const response = await fetch(handle.url, { method: "POST", ...long });
    expect((await response.text()).length).toBeGreaterThan(LONG.length);
    for (const socket of idle) socket.destroy();
  });
});

describe("drain with a delay", () => {
  const post = (url: string) =>
    fetch(url, { method: "POST", ...modern("tools/call", { name: "hello", arguments: {} }) });
  const serve = async () => {
    const server = new Server({ name: "t", version: "1" }).tool("hello", {}, () => "hello");
    const handle = await serveHttp(server, { port: 0, drainDelayMs: 60_000 });
    handles.push(handle);
    return { handle, health: new URL("/health", handle.url) };
  };

  it("says that it is not ready, and still answers", async () => {
    const { handle, health } = await serve();
    expect((await fetch(health)).status).toBe(200);
    const ended = handle.drain(400);
    expect((await fetch(health)).status).toBe(503);
    const reply = await post(handle.url);
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining("hello")]);
    await ended;
    await expect(post(handle.url)).rejects.toThrow();
  });

  it("ends at once when it is closed meanwhile", async () => {
    const { handle } = await serve();
    const ended = handle.drain(60_000);
    await handle.close();
    await ended;
  });
});

/** A connection that stays open between requests. */
function keptConnection(port: number) {
  const socket = connect(port, "127.0.0.1");
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  socket.on("error", () => {});
  return {
    closed,
    post(name: string): Promise<RawReply> {
      const { body, headers } = modern("tools/call", { name, arguments: {} });
      const lines = Object.entries({ ...headers, host: "localhost", "content-length": String(body.length) });
      socket.write(`POST /mcp HTTP/1.1\r\n${lines.map((line) => line.join(": ")).join("\r\n")}\r\n\r\n${body}`);
      return this.reply();
    },
    get(path: string): Promise<RawReply> {
      socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
      return this.reply();
    },
    reply(): Promise<RawReply> {
      let bytes = Buffer.alloc(0);
      return new Promise((resolve, reject) => {
        const take = (chunk: Buffer) => {
          bytes = Buffer.concat([bytes, chunk]);
          const reply = parseReply(bytes, false);
          if (reply === undefined) return;
          socket.off("data", take);
          resolve(reply);
        };
        socket.on("data", take);
        void closed.then(() => reject(new Error("the connection was closed without a reply")));
      });
    },
  };
}

describe("a kept connection", () => {
  const server = () => {
    const held = gate();
    const running = gate();
    const made = new Server({ name: "t", version: "1" })
      .tool("hello", {}, () => "hello")
      .tool("slow", {}, async () => {
        running.open();
        await held.passed;
        return "slow";
      });
    return { made, held, running };
  };

  it("ends with its next reply while the server drains, and before that keeps alive", async () => {
    const handle = await serveHttp(server().made, { port: 0, drainDelayMs: 600_000 });
    handles.push(handle);
    const [caller, prober] = [keptConnection(handle.port), keptConnection(handle.port)];
    expect((await caller.post("hello")).headers.get("connection")).toBe("keep-alive");
    expect((await prober.get("/health")).headers.get("connection")).toBe("keep-alive");
    drained = handle.drain(600_000);
    const reply = await caller.post("hello");
    expect([reply.status, reply.headers.get("connection")]).toEqual([200, "close"]);
    const probe = await prober.get("/readyz");
    expect([probe.status, probe.headers.get("connection")]).toEqual([503, "close"]);
    await Promise.all([caller.closed, prober.closed]);
    await handle.close();
  });

  it("is closed when it is idle, and after the reply of a call that runs", async () => {
    const { made, held, running } = server();
    const handle = await serveHttp(made, { port: 0 });
    handles.push(handle);
    const [busy, idle] = [keptConnection(handle.port), keptConnection(handle.port)];
    await idle.post("hello");
    const slow = busy.post("slow");
    await running.passed;
    drained = handle.drain(600_000);
    await idle.closed;
    held.open();
    const reply = await slow;
    expect([reply.status, reply.headers.get("connection")]).toEqual([200, "close"]);
    await busy.closed;
  });

  it("is told so by a handler that is mounted elsewhere", async () => {
    const handler = nodeHandler(server().made);
    const outer = createServer(handler).listen(0, "127.0.0.1");
    await once(outer, "listening");
    // A server on TCP has an address object.
    const connection = keptConnection((outer.address() as AddressInfo).port);
    await connection.post("hello");
    await handler.drain();
    const reply = await connection.post("hello");
    expect([reply.status, reply.headers.get("connection")]).toEqual([503, "close"]);
    await handler.close();
    outer.close();
    outer.closeAllConnections();
  });
});
