import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { serveHttp } from "../../src/node/http/serve-http.js";
import { Server } from "../../src/server/server.js";
import type { ListeningHandle } from "../../src/transport/serve-handle.js";
import { LegacyClient } from "./legacy-client.js";
import { modern } from "./modern.js";
import { sendRaw } from "./raw-http.js";
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
