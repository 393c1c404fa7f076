import { describe, expect, it } from "vitest";
import { fetchHandler } from "../../src/http.js";
import { connect, Server } from "../../src/index.js";
import { platform as nodePlatform } from "../../src/node/platform.js";
import { serveHttp } from "../../src/node.js";
import { memoryStorage, StorageError, StorageFailure } from "../../src/storage.js";

const INFO = { name: "probed", version: "1.0.0" };

async function statuses(url: string): Promise<number[]> {
  const paths = ["/healthz", "/readyz", "/health"];
  return Promise.all(paths.map(async (path) => (await fetch(new URL(path, url))).status));
}

/** A storage whose writes a test can make fail; reads go on. */
function storageWithoutWrites() {
  const inner = memoryStorage();
  const state: { write?: () => Promise<never> } = {};
  const kv = new Proxy(inner.kv, {
    get: (target, key) =>
      key === "set" && state.write !== undefined
        ? state.write
        : (...args: unknown[]) => Reflect.apply(Reflect.get(target, key) as () => unknown, target, args),
  });
  return { state, storage: { kv, log: inner.log, pubsub: inner.pubsub } };
}

describe("the paths for health", () => {
  it("tell draining from being dead, and are ready no more before a request is refused", async () => {
    const server = new Server(INFO).tool("add", () => "3");
    await using handle = await serveHttp(server, { port: 0, drainDelayMs: 60_000 });
    await using client = await connect(handle.url);
    expect(await statuses(handle.url)).toEqual([200, 200, 200]);
    const draining = handle.drain(60_000);
    expect(await statuses(handle.url)).toEqual([200, 503, 503]);
    expect(await client.call("add")).toBe("3");
    await client.close();
    await handle.close();
    await draining;
  });

  it("are not ready while the storage does not answer or `isHealthy` says no", async () => {
    const { state, storage } = storageWithoutWrites();
    let healthy = true;
    const options = { port: 0, isHealthy: () => healthy };
    await using handle = await serveHttp(new Server(INFO, { storage }), options);
    expect(await statuses(handle.url)).toEqual([200, 200, 200]);
    state.write = () => new Promise(() => {});
    expect(await statuses(handle.url)).toEqual([200, 503, 503]);
    delete state.write;
    healthy = false;
    expect(await statuses(handle.url)).toEqual([200, 503, 503]);
  });

  it("are not ready while the storage can only be read, and are while it is full", async () => {
    const { state, storage } = storageWithoutWrites();
    await using handle = await serveHttp(new Server(INFO, { storage }), { port: 0 });
    state.write = async () => {
      throw new StorageFailure("read-only", "This is a replica.", "Use the primary.");
    };
    expect(await statuses(handle.url)).toEqual([200, 503, 503]);
    state.write = async () => {
      throw new StorageError("maxmemory", 1, "Raise it.");
    };
    expect(await statuses(handle.url)).toEqual([200, 200, 200]);
  });

  it("report a failure once, however often strangers ask", async () => {
    const warnings: string[] = [];
    let broken = true;
    const isHealthy = () => {
      if (broken) throw new Error("no database");
      return true;
    };
    const platform = { ...nodePlatform, warn: (line: string) => void warnings.push(line) };
    await using handler = fetchHandler(new Server(INFO), { isHealthy, platform });
    const ready = async () => (await handler(new Request("http://10.1.2.3/readyz"))).status;
    for (let at = 0; at < 5; at++) expect(await ready()).toBe(503);
    expect(warnings).toEqual([expect.stringContaining("no database")]);
    broken = false;
    expect(await ready()).toBe(200);
    broken = true;
    expect(await ready()).toBe(503);
    expect(warnings).toHaveLength(2);
  });

  it("can be moved and turned off", async () => {
    const options = { port: 0, livePath: "/alive", readyPath: false, healthPath: false } as const;
    await using handle = await serveHttp(new Server(INFO), options);
    expect((await fetch(new URL("/alive", handle.url))).status).toBe(200);
    expect(await statuses(handle.url)).toEqual([404, 404, 404]);
  });

  it("are served by handlers of every runtime, for any Host", async () => {
    await using handler = fetchHandler(new Server(INFO));
    const get = async (path: string) => handler(new Request(`http://10.1.2.3${path}`));
    const live = await get("/healthz?x=1");
    expect([live.status, await live.json()]).toEqual([200, { status: "ok" }]);
    expect((await get("/readyz")).status).toBe(200);
    expect((await get("/mcp")).status).toBe(403);
    await handler.drain(0);
    expect((await get("/readyz")).status).toBe(503);
    expect((await get("/healthz")).status).toBe(200);
  });
});
