import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { serveHttp } from "../../src/node/http/serve-http.js";
import { Server } from "../../src/server/server.js";
import { createMemoryStorage } from "../../src/storage/memory.js";
import type { HttpServerOptions } from "../../src/transport/http/server/options.js";
import { fakeTime } from "./fake-time.js";
import { EventReader, LegacyClient } from "./legacy-client.js";
import { modern } from "./modern.js";
import { parseReply } from "./raw-http.js";
import { ADAPTERS, type Served } from "./serving.js";
import { gate, waitUntil } from "./watched.js";

/** A server whose handlers wait for `open`, and ignore that their clients leave. */
function slow() {
  const { passed, open } = gate();
  const count = { running: 0, most: 0 };
  const wait = async () => {
    count.running += 1;
    count.most = Math.max(count.most, count.running);
    await passed;
    count.running -= 1;
    return "done";
  };
  const server = new Server({ name: "t", version: "1" })
    .tool("wait", {}, wait)
    .tool("quick", {}, () => "quick")
    .resource("wait://it", {}, wait);
  return { server, count, open };
}

const post = (served: Served, call: { headers: Record<string, string>; body: string }, init: RequestInit = {}) =>
  served.fetch(
    new Request(served.url, { method: "POST", ...call, ...init, headers: { ...call.headers, ...init.headers } }),
  );
const wait = modern("tools/call", { name: "wait", arguments: {} });
const quick = modern("tools/call", { name: "quick", arguments: {} });
const limitOf = async (response: Response) =>
  ((await response.json()) as { error: { data: { limit: string } } }).error.data.limit;

/** True when the server has heard that the client of a request of its runtime has left. */
function isLeft(native: unknown): boolean {
  // Safe: the Node adapter has no other requests.
  return native instanceof Request ? native.signal.aborted : (native as IncomingMessage).socket.closed;
}

/** A request whose client leaves once the server is at work. */
async function abandon(served: Served, call: { headers: Record<string, string>; body: string }, at: () => boolean) {
  const leaving = new AbortController();
  const reply = post(served, call, { signal: leaving.signal }).then(
    (response) => response.status,
    () => 0,
  );
  await Promise.race([waitUntil(at), reply]);
  leaving.abort();
  return Promise.race([reply, new Promise<number>((resolve) => setTimeout(resolve, 50, 0))]);
}

describe.each(ADAPTERS)("the requests in flight, through %s,", (_name, start) => {
  it.each([
    ["tools/call", wait],
    ["resources/read", modern("resources/read", { uri: "wait://it" })],
  ])("count until their handlers end, whoever has left: %s", async (_method, call) => {
    const { server, count, open } = slow();
    const served = await start(server, { limits: { maxInFlight: 5 } });
    const statuses: number[] = [];
    for (let sent = 0; sent < 12; sent++) {
      const before = count.running;
      statuses.push(await abandon(served, call, () => count.running > before));
    }
    expect(count.running).toBe(5);
    expect(statuses.slice(5)).toEqual(Array(7).fill(503));
    expect(await limitOf(await post(served, quick))).toBe("maxInFlight");
    open();
    await waitUntil(() => count.running === 0);
    await waitUntil(async () => (await post(served, quick)).status === 200);
  });

  it("count while their stream is lost, and not while it is open", async () => {
    const { server, count, open } = slow();
    const served = await start(server, { limits: { maxInFlight: 1 }, times: { streamAfterMs: 5 } });
    const stream = await post(served, wait);
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    expect((await post(served, quick)).status).toBe(200);
    await stream.body?.cancel();
    await waitUntil(async () => (await post(served, quick)).status === 503);
    expect(count.running).toBe(1);
    open();
    await waitUntil(async () => (await post(served, quick)).status === 200);
  });

  it("are shared: one principal cannot take all places", async () => {
    const { server, count, open } = slow();
    const authenticate: HttpServerOptions["authenticate"] = (request) => ({
      key: request.header("authorization") ?? "nobody",
    });
    const limits = { maxInFlightPerPrincipal: 2 };
    const served = await start(server, { authenticate, limits, times: { streamAfterMs: 600_000 } });
    const as = (authorization: string) => ({ headers: { authorization } });
    const running = [post(served, wait, as("ada")), post(served, wait, as("ada"))];
    await waitUntil(() => count.running === 2);
    const third = await post(served, quick, as("ada"));
    expect([third.status, await limitOf(third)]).toEqual([503, "maxInFlightPerPrincipal"]);
    expect((await post(served, quick, as("bob"))).status).toBe(200);
    open();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await post(served, quick, as("ada"))).status).toBe(200);
  });

  it.each([[false], [true]])("include each request of an array (sessions: %s)", async (sessions) => {
    const { server, count, open } = slow();
    const limits = { maxInFlight: 10, maxBatchItems: 30 };
    const served = await start(server, { sessions, limits, times: { streamAfterMs: 600_000 } });
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    if (sessions) await client.open("2025-03-26");
    const batch = (size: number) =>
      Array.from({ length: size }, (_, id) => ({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "wait", arguments: {} },
      }));
    const refused = await client.post(batch(11));
    expect([refused.status, await limitOf(refused), count.most]).toEqual([503, "maxInFlight", 0]);
    const first = client.post(batch(10));
    await waitUntil(() => count.running === 10);
    expect((await client.post(batch(1))).status).toBe(503);
    const tooMany = await client.post(batch(31));
    expect([tooMany.status, await limitOf(tooMany)]).toEqual([400, "maxBatchItems"]);
    open();
    expect(await (await first).text()).toContain("done");
    expect((await client.post(batch(10))).status).toBe(200);
  });

  it("do not keep the answer to a question from the one who waits for it", async () => {
    const server = new Server({ name: "t", version: "1" }).tool("ask", {}, async (_args, ctx) =>
      JSON.stringify(await ctx.elicit("Name?", { type: "object", properties: { name: { type: "string" } } })),
    );
    const served = await start(server, { limits: { maxInFlight: 1 }, times: { streamAfterMs: 600_000 } });
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open("2025-11-25", { elicitation: {} });
    const events = new EventReader(await client.call("ask"));
    const { id } = await events.message();
    const result = { action: "accept", content: { name: "Ada" } };
    expect((await client.post({ jsonrpc: "2.0", id, result })).status).toBe(202);
    expect(JSON.stringify(await events.message())).toContain("Ada");
  });

  it("stay right when a handshake fails", async () => {
    const { server: inner, count, open } = slow();
    const { kv, ...storage } = createMemoryStorage({ clock: Date });
    const down = () => Promise.reject(new Error("down"));
    const failing = { ...storage, kv: { get: (key: string) => kv.get(key), set: down, delete: down, touch: down } };
    const endpoint = { ...inner.endpoint(), storage: failing };
    const { platform } = fakeTime();
    const served = await start(endpoint, { limits: { maxInFlight: 1 }, platform });
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    for (let attempt = 0; attempt < 3; attempt++) expect((await client.open()).status).toBe(503);
    const running = post(served, wait);
    await waitUntil(() => count.running === 1);
    expect((await post(served, quick)).status).toBe(503);
    open();
    expect((await running).status).toBe(200);
  });
});

describe.each(ADAPTERS)("a slow `authenticate`, through %s,", (_name, start) => {
  it("is asked for no more requests at once than are served, and for nobody a handler runs", async () => {
    const { server, count, open: finish } = slow();
    const { passed, open } = gate();
    let inside = 0;
    const requests: unknown[] = [];
    const authenticate: HttpServerOptions["authenticate"] = async (_request, native) => {
      requests.push(native);
      inside += 1;
      await passed;
      inside -= 1;
      return { key: "k" };
    };
    const served = await start(server, { authenticate, limits: { maxInFlight: 4 } });
    const statuses: number[] = [];
    for (let sent = 0; sent < 9; sent++) {
      const before = inside;
      statuses.push(await abandon(served, wait, () => inside > before));
    }
    expect(inside).toBe(4);
    expect(statuses.slice(4)).toEqual(Array(5).fill(503));
    await waitUntil(() => requests.every(isLeft));
    open();
    await waitUntil(() => inside === 0);
    finish();
    expect((await post(served, quick)).status).toBe(200);
    expect(count.most).toBe(0);
  });
});

describe("bodies that are being received", () => {
  const head = (length: number) =>
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  const sockets: Socket[] = [];
  const upload = (port: number, bytes: number) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(head(100_000) + " ".repeat(bytes)));
    socket.on("error", () => {});
    sockets.push(socket);
    return socket;
  };
  const replyOn = (socket: Socket) =>
    new Promise<string>((resolve) => {
      const chunks: Buffer[] = [];
      socket.on("data", (chunk) => {
        chunks.push(chunk);
        const reply = parseReply(Buffer.concat(chunks), false);
        if (reply !== undefined) resolve(`${reply.status} ${reply.body}`);
      });
      socket.on("close", () => resolve("closed"));
    });

  it("are bounded together, and give back what they held when their senders leave", async () => {
    const { server } = slow();
    const handle = await serveHttp(server, { port: 0, limits: { maxUnfinishedBytes: 100_000 } });
    const both = [upload(handle.port, 60_000), upload(handle.port, 60_000)];
    expect(await Promise.race(both.map(replyOn))).toMatch(/^503 .*maxUnfinishedBytes/);
    for (const socket of both) socket.destroy();
    await waitUntil(async () => /^400 /.test(await replyOn(upload(handle.port, 100_000))));
    for (const socket of sockets) socket.destroy();
    await handle.close();
  });

  it("count as requests: beyond `maxInFlight` another is refused at once", async () => {
    const { server } = slow();
    const handle = await serveHttp(server, { port: 0, limits: { maxInFlight: 2 } });
    const three = [1, 2, 3].map(() => upload(handle.port, 10));
    expect(await Promise.race(three.map(replyOn))).toMatch(/^503 .*maxInFlight/);
    for (const socket of sockets) socket.destroy();
    await waitUntil(async () => (await fetch(handle.url, { method: "POST", ...quick })).status === 200);
    await handle.close();
  });
});
