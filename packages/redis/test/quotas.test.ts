import { fetchHandler, Server } from "@parley/mcp";
import { type Quota, quotas } from "@parley/mcp/limits";
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
  function node(perPrincipal: Quota) {
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
    return { call, waiting };
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
});
