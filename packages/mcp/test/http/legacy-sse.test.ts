import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { delayedStorage } from "../../src/storage/delayed-storage.js";
import { createMemoryStorage } from "../../src/storage/memory.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { EventReader } from "./legacy-client.js";
import { ADAPTERS } from "./serving.js";
import { waitUntil, watch } from "./watched.js";

const server = () =>
  new Server({ name: "t", version: "1" }).tool("steps", {}, async (_args, ctx) => {
    ctx.progress(1);
    return "done";
  });

type Fetch = (request: Request) => Promise<Response>;

function at(url: string, path: string): string {
  return new URL(path, url).href;
}

async function openLine(fetch: Fetch, url: string, headers: Record<string, string> = {}) {
  const response = await fetch(new Request(at(url, "/sse"), { headers: { accept: "text/event-stream", ...headers } }));
  if (response.status !== 200) throw new Error(`the stream got ${response.status}`);
  const reader = new EventReader(response);
  const endpoint = at(url, (await reader.next())?.data ?? "");
  const post = (message: unknown, more: Record<string, string> = {}) =>
    fetch(
      new Request(endpoint, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers, ...more },
        body: typeof message === "string" ? message : JSON.stringify(message),
      }),
    );
  return { reader, endpoint, post };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "x", version: "1" } },
};
const CALL = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "steps", _meta: { progressToken: 1 } } };

describe.each(ADAPTERS)("the transport of 2024-11-05 through %s", (_name, start) => {
  it("names where to send, accepts messages there, and answers on the stream (SSE24-01 to SSE24-04)", async () => {
    const { endpoint, peers } = watch(server());
    const served = await start(endpoint, { legacySse: {} });
    const { reader, post } = await openLine(served.fetch, served.url);
    expect(reader.raw).toMatch(/^event: endpoint\ndata: \/messages\?sessionId=[\w-]{32}\n\n$/);
    expect((await post(INITIALIZE)).status).toBe(202);
    expect(await reader.message()).toMatchObject({ id: 1, result: { protocolVersion: "2024-11-05" } });
    await post({ jsonrpc: "2.0", method: "notifications/initialized" });
    await post(CALL);
    expect(await reader.message()).toMatchObject({ method: "notifications/progress" });
    expect(await reader.message()).toMatchObject({ id: 2, result: { content: [{ text: "done" }] } });
    expect(reader.raw).toContain("event: message\n");
    expect(peers.size).toBe(1);
    await reader.cancel();
    await waitUntil(() => peers.size === 0);
    expect((await post(CALL)).status).toBe(404);
  });

  it("is off unless asked for", async () => {
    const served = await start(server());
    const response = await served.fetch(
      new Request(at(served.url, "/sse"), { headers: { accept: "text/event-stream" } }),
    );
    expect([400, 404]).toContain(response.status);
  });

  it("refuses what the newer transport refuses (SSE24-05)", async () => {
    const { endpoint, exchanges } = watch(server());
    const served = await start(endpoint, { legacySse: {} });
    const evil = { origin: "http://evil.example" };
    await expect(openLine(served.fetch, served.url, evil)).rejects.toThrow("403");
    const { reader, post } = await openLine(served.fetch, served.url);
    expect((await post(INITIALIZE, evil)).status).toBe(403);
    expect((await post(INITIALIZE, { "content-type": "text/plain" })).status).toBe(415);
    expect((await post("{")).status).toBe(400);
    expect((await post(`"${"x".repeat(5 * 1024 * 1024)}"`)).status).toBe(413);
    expect(exchanges).toEqual([]);
    await reader.cancel();
  });

  it("binds its sessions to the principal that opened them", async () => {
    const served = await start(server(), {
      legacySse: {},
      authenticate: (request) => ({ key: request.header("authorization") ?? "" }),
    });
    const { reader, endpoint, post } = await openLine(served.fetch, served.url, { authorization: "ada" });
    expect((await post(INITIALIZE, { authorization: "mallory" })).status).toBe(404);
    expect(endpoint).toContain("sessionId=");
    expect((await post(INITIALIZE)).status).toBe(202);
    await reader.cancel();
  });
});

it("The transport of 2024-11-05 takes messages on any node that shares the store", async () => {
  const storage = delayedStorage(createMemoryStorage({ clock: { now: () => Date.now() } }));
  const [first, second] = [0, 1].map(() => fetchHandler({ ...server().endpoint(), storage }, { legacySse: {} }));
  let turn = 0;
  const fetch: Fetch = (request) => (turn++ === 0 ? first : second)?.(request) ?? Promise.reject(new Error("no node"));
  const { reader, post } = await openLine(fetch, "http://localhost/");
  expect((await post(INITIALIZE)).status).toBe(202);
  expect(await reader.message()).toMatchObject({ id: 1 });
  first?.close();
  second?.close();
});

it("The transport of 2024-11-05 is marked as deprecated where it is asked for (SSE24-09)", () => {
  const source = readFileSync(new URL("../../src/transport/http/server/options.ts", import.meta.url), "utf8");
  for (const name of ["export interface LegacySseOptions", "  legacySse?:"]) {
    const [before = ""] = source.split(name);
    expect(before.slice(before.lastIndexOf("/**")), name).toContain("@deprecated");
  }
});
