import { fetchHandler, Server } from "@parley/mcp";
import { type PrincipalQuota, quotas } from "@parley/mcp/limits";
import { type RedisStorage, redisStorage } from "@parley/redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasRedis, startRedis, type TestRedis, until } from "./start-redis.js";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe.skipIf(!hasRedis)("quotas of two nodes on one Redis", () => {
  let redis: TestRedis;
  const storages: RedisStorage[] = [];
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    await Promise.all(storages.map((storage) => storage.close()));
    await redis?.stop();
  });

  /** A node, and a function that calls its tool `name` as `key` and resolves with the status. */
  function node(perPrincipal: PrincipalQuota) {
    const storage = redisStorage({ url: redis.url });
    storages.push(storage);
    const waiting: (() => void)[] = [];
    const limits = quotas({ perPrincipal, on: "storage", refusal: "protocol" });
    const server = new Server({ name: "s", version: "1" }, { storage, secret: "k".repeat(32), quotas: limits })
      .tool("quick", () => "done")
      .tool("slow", () => new Promise<string>((resolve) => waiting.push(() => resolve("slow"))));
    const handler = fetchHandler(server, {
      authenticate: (request) => ({ key: request.header("authorization") ?? "" }),
    });
    const call = async (key: string, name: string) => {
      const headers = {
        host: "127.0.0.1",
        authorization: key,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": name,
      };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, _meta: META } });
      const response = await handler(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body }));
      await response.text();
      return response.status;
    };
    /** Sends a request of the revision with sessions. */
    const send = (method: string, key: string, session?: string, message?: object) => {
      const headers = {
        host: "127.0.0.1",
        authorization: key,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session === undefined ? {} : { "mcp-session-id": session }),
      };
      const body = message === undefined ? {} : { body: JSON.stringify({ jsonrpc: "2.0", ...message }) };
      return handler(new Request("http://127.0.0.1/mcp", { method, headers, ...body }));
    };
    /** The id of a new session of `key`; the status if it was refused. */
    const open = async (key: string) => {
      const clientInfo = { name: "test", version: "1" };
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
      const response = await send("POST", key, undefined, { id: 1, method: "initialize", params });
      await response.text();
      const id = response.headers.get("mcp-session-id");
      if (id !== null) await send("POST", key, id, { method: "notifications/initialized" });
      return id ?? response.status;
    };
    return { call, waiting, send, open };
  }

  it("admit as many calls of one principal as the rate allows, and others as well", async () => {
    const rate = { calls: 10, perMs: 600_000 };
    const [one, two] = [node({ rate }), node({ rate })];
    const statuses: number[] = [];
    for (let round = 0; round < 8; round++) {
      statuses.push(
        ...(await Promise.all([one.call("ada", "quick"), two.call("ada", "quick"), one.call("ada", "quick")])),
      );
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(14);
    expect(await two.call("bob", "quick")).toBe(200);
  });

  it("let three calls of one principal run at once, wherever they are", async () => {
    const [one, two] = [node({ calls: 3 }), node({ calls: 3 })];
    const running = [one.call("eve", "slow"), two.call("eve", "slow"), two.call("eve", "slow")];
    await until(() => one.waiting.length + two.waiting.length === 3);
    expect(await one.call("eve", "quick")).toBe(429);
    for (const end of [...one.waiting, ...two.waiting]) end();
    expect(await Promise.all(running)).toEqual([200, 200, 200]);
    await until(async () => (await one.call("eve", "quick")) === 200);
  });

  it("let a principal have two sessions and two streams, wherever they are", async () => {
    const [one, two] = [node({ sessions: 2, streams: 2 }), node({ sessions: 2, streams: 2 })];
    const opened = await Promise.all([one.open("kim"), two.open("kim"), one.open("kim"), two.open("kim")]);
    const ids = opened.filter((id) => typeof id === "string");
    expect(ids).toHaveLength(2);
    expect(opened.filter((id) => id === 429)).toHaveLength(2);
    expect(await two.open("lea")).toEqual(expect.any(String));

    const [first = "", second = ""] = ids;
    const streams = [await one.send("GET", "kim", first), await two.send("GET", "kim", second)];
    const refused = await one.send("GET", "kim", second);
    expect([...streams, refused].map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(refused.headers.get("retry-after")).toBe("10");
    for (const { body } of streams) await body?.cancel();
    await until(async () => {
      const { status, body } = await one.send("GET", "kim", second);
      await body?.cancel();
      return status === 200;
    });

    expect((await two.send("DELETE", "kim", first)).status).toBe(204);
    expect(await one.open("kim")).toEqual(expect.any(String));
    expect(await two.open("kim")).toBe(429);
  });
});
