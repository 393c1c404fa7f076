import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { type RedisStorage, redisStorage } from "@parley/redis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LegacyClient } from "../../mcp/test/http/legacy-client.js";
import { type Forwarder, startForwarder } from "./forwarder.js";
import { hasRedis, startRedis, type TestRedis, until } from "./start-redis.js";

describe.skipIf(!hasRedis)("a planned failover behind one address", () => {
  let primary: TestRedis;
  let replica: TestRedis;
  let address: Forwarder;
  let storage: RedisStorage;

  beforeEach(async () => {
    const settings = ["--repl-diskless-sync-delay", "0"];
    [primary, replica] = await Promise.all([startRedis(settings), startRedis(settings)]);
    await replica.command("REPLICAOF", "127.0.0.1", `${primary.port}`);
    await until(async () => /master_link_status:up/.test(String(await replica.command("INFO", "replication"))));
    address = await startForwarder(primary.port);
    storage = redisStorage({ url: `redis://127.0.0.1:${address.port}` });
  });
  afterEach(async () => {
    await storage.close();
    await address.stop();
    await Promise.all([primary.stop(), replica.stop()]);
  });

  /** Demotes the primary; connections to it stay. */
  async function demote(): Promise<void> {
    await until(() =>
      primary.command("FAILOVER", "TO", "127.0.0.1", `${replica.port}`).then(
        () => true,
        () => false,
      ),
    );
    await until(async () => /role:master/.test(String(await replica.command("INFO", "replication"))));
    await until(async () => /role:slave/.test(String(await primary.command("INFO", "replication"))));
  }

  it("is followed by the connections of a storage, which loses no write and no subscription", async () => {
    const heard: string[] = [];
    await storage.pubsub.subscribe(
      "t",
      (message) => heard.push(message),
      () => heard.push("gap"),
    );
    await storage.kv.set("k", "before");
    // A connection is given up once a second at most.
    await until(async () => Number(await commandAge(primary)) >= 2);
    await demote();
    address.target = replica.port;
    // Refused by the former primary, and sent again to the new one.
    expect(await storage.kv.set("k", "after")).toBeGreaterThan(0);
    expect((await storage.kv.get("k"))?.value).toBe("after");
    // The subscription moves too: it would be lost with the former primary.
    await until(() => heard.includes("gap"));
    await primary.kill();
    await storage.pubsub.publish("t", "message");
    await until(() => heard.includes("message"));
  });

  it("makes a node say that it is not ready until its storage takes writes again", async () => {
    const server = new Server({ name: "t", version: "1" }, { storage, secret: "k".repeat(32) });
    server.tool("hello", {}, () => "hello");
    const handle = await serveHttp(server, { port: 0 });
    const ready = async () => (await fetch(new URL("/readyz", handle.url))).status;
    try {
      const client = new LegacyClient(handle.url);
      await client.open();
      expect(await ready()).toBe(200);
      await demote();
      // The address still leads to the former primary, which is read-only now.
      expect(await ready()).toBe(503);
      expect((await new LegacyClient(handle.url).open()).status).toBe(503);
      address.target = replica.port;
      await until(async () => (await ready()) === 200);
      expect((await new LegacyClient(handle.url).open()).status).toBe(200);
      expect((await client.call("hello")).status).toBe(200);
    } finally {
      await handle.close();
    }
  });

  async function commandAge(redis: TestRedis): Promise<string | undefined> {
    const clients = String(await redis.command("CLIENT", "LIST", "TYPE", "normal"));
    return /age=(\d+).*cmd=evalsha/.exec(clients)?.[1];
  }
});
