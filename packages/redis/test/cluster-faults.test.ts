import { StorageFailure } from "@parley/mcp/storage";
import { type RedisStorage, redisStorage } from "@parley/redis";
import { createCluster } from "@redis/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { slotOf } from "../src/cluster-route.js";
import { hasRedis, startCluster, type TestCluster, type TestRedis, until } from "./start-redis.js";

const LIMITS = { maxEntries: 10_000, maxBytes: 10_000_000, maxAgeMs: 600_000 };

describe.skipIf(!hasRedis)("a cluster with replicas", () => {
  let cluster: TestCluster;
  const storages: RedisStorage[] = [];
  const storageOf = (options: object = {}) => {
    const storage = redisStorage({ nodes: cluster.urls, timeoutMs: 10_000, ...options });
    storages.push(storage);
    return storage;
  };
  beforeAll(async () => {
    cluster = await startCluster(1);
  });
  afterAll(async () => {
    await Promise.all(storages.map((storage) => storage.close()));
    await cluster?.stop();
  });

  /** The server that answers for a slot now. */
  async function masterOf(slot: number): Promise<TestRedis> {
    const text = String(await cluster.nodes.at(-1)?.command("CLUSTER", "NODES"));
    const line = text.split("\n").find((one) => {
      const ranges = one.split(" ").slice(8);
      return /master/.test(one) && !/fail/.test(one) && ranges.some((range) => holds(range, slot));
    });
    const found = cluster.nodes.find(({ port }) => line?.includes(`:${port}@`));
    if (found === undefined) throw new Error(`no server holds slot ${slot}`);
    return found;
  }

  it("takes the settings of a configured client, and leaves the client alone", async () => {
    const client = createCluster({ rootNodes: cluster.urls.map((url) => ({ url })) });
    const storage = redisStorage({ client, timeoutMs: 10_000 });
    try {
      expect(await storage.kv.set("{client}", "v")).toBeGreaterThan(0);
      const heard: string[] = [];
      await storage.pubsub.subscribe("{client}", (message) => heard.push(message));
      await storage.pubsub.publish("{client}", "m");
      await until(() => heard.includes("m"));
      expect(client.isOpen).toBe(false);
    } finally {
      await storage.close();
    }
  });

  it("keeps what belongs together in one slot, and order and answers while that slot moves", async () => {
    const storage = storageOf({ prefix: "moves:" });
    const slot = slotOf("{session}");
    const heard: string[] = [];
    await storage.pubsub.subscribe(
      "changes/{session}",
      (message) => heard.push(message),
      () => heard.push("gap"),
    );
    await storage.kv.set("value/{session}", "kept");
    const ids: number[] = [];
    const sent: string[] = [];
    let moving = true;
    const work = (async () => {
      for (let count = 0; moving || count < 50; count++) {
        ids.push(await storage.log.append("events/{session}", `${count}`, LIMITS));
        sent.push(`${count}`);
        await storage.pubsub.publish("changes/{session}", `${count}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();
    await until(() => heard.length > 5);
    const [from, to] = [await masterOf(slot), await masterOf((slot + 8_192) % 16_384)];
    expect(to.port).not.toBe(from.port);
    await moveSlot(slot, from, to);
    await until(() => heard.includes("gap"));
    moving = false;
    await work;
    await storage.pubsub.publish("changes/{session}", "end");
    await until(() => heard.includes("end"));
    const messages = heard.filter((one) => /^\d+$/.test(one)).map(Number);
    expect(messages).toEqual([...new Set(messages)].toSorted((a, b) => a - b));
    const read = await storage.log.read("events/{session}", 0, 10_000);
    if (read.evicted) throw new Error("nothing was evicted");
    expect(read.entries.map(({ id }) => id)).toEqual(ids);
    expect(read.entries.map(({ entry }) => entry)).toEqual(sent);
    expect((await storage.kv.get("value/{session}"))?.value).toBe("kept");
  });

  it("listens again on its own server after a cut, whatever has moved away from it before", async () => {
    const storage = storageOf({ prefix: "stays:" });
    const slot = slotOf("{goes}");
    const [from, to] = [await masterOf(slot), await masterOf((slot + 8_192) % 16_384)];
    const tags = Array.from({ length: 100 }, (_, at) => `{stays ${at}}`);
    const masters = await Promise.all(tags.map((tag) => masterOf(slotOf(tag))));
    const stays = tags[masters.findIndex(({ port }) => port === from.port)] ?? "";
    const heard: string[] = [];
    for (const topic of ["{goes}", stays]) {
      await storage.pubsub.subscribe(
        topic,
        (message) => heard.push(`${topic} ${message}`),
        () => heard.push(`${topic} gap`),
      );
    }
    await storage.kv.set("{goes}", "v");
    await moveSlot(slot, from, to);
    await until(() => heard.includes("{goes} gap"));
    const refusedBefore = await refusedSubscriptions(to);
    await from.command("CLIENT", "KILL", "TYPE", "pubsub");
    await until(() => heard.includes(`${stays} gap`));
    expect(await refusedSubscriptions(to), "subscriptions at the wrong server").toBe(refusedBefore);
    await storage.pubsub.publish(stays, "m");
    await until(() => heard.includes(`${stays} m`));
  });

  it("fails calls for a slot that no server has, and no others", async () => {
    const slot = slotOf("{nowhere}");
    for (const node of cluster.nodes) await node.command("CLUSTER", "DELSLOTS", `${slot}`).catch(() => {});
    const storage = storageOf({ prefix: "uncovered:", timeoutMs: 1_000 });
    const calls = [storage.kv.get("{nowhere}"), storage.pubsub.publish("{nowhere}", "m")];
    for (const { status, reason } of (await Promise.allSettled(calls)) as PromiseRejectedResult[]) {
      expect([status, reason]).toEqual(["rejected", expect.any(StorageFailure)]);
    }
    await until(() => succeeds(storage.kv.set("{somewhere}", "v")));
  });

  it("loses a master: calls for it end in time, the others go on, and its replica takes over for both", async () => {
    const storage = storageOf({ prefix: "killed:", timeoutMs: 500 });
    const key = "{lost}";
    // The middle of three equal parts is at least a third away from this.
    const other = Array.from({ length: 1_000 }, (_, at) => `{kept ${at}}`).find(
      (tag) => Math.abs(slotOf(tag) - slotOf(key)) > 5_500,
    ) as string;
    const master = await masterOf(slotOf(key));
    expect((await masterOf(slotOf(other))).port).not.toBe(master.port);
    await until(() => succeeds(storage.kv.set(key, "v")));
    await until(() => succeeds(storage.kv.set(other, "v")));
    const heard: string[] = [];
    const listen = () =>
      storage.pubsub.subscribe(
        key,
        (message) => heard.push(message),
        () => heard.push("gap"),
      );
    await until(() => succeeds(listen()));
    // Replication is asynchronous; what is to survive has to have arrived.
    await until(async () =>
      /slave0:.*state=online.*lag=[01]/.test(String(await master.command("INFO", "replication"))),
    );
    await master.kill();
    const failed: unknown[] = [];
    await until(async () => {
      const outcome = await Promise.resolve(storage.kv.set(key, "w")).catch((error: unknown) => error);
      if (typeof outcome !== "number") failed.push(outcome);
      return typeof outcome === "number";
    });
    expect(failed.every((error) => error instanceof StorageFailure)).toBe(true);
    expect(failed.length).toBeGreaterThan(0);
    expect((await storage.kv.get(other))?.value).toBe("v");
    await until(() => heard.includes("gap"));
    await until(() => succeeds(storage.pubsub.publish(key, "after")));
    await until(() => heard.includes("after"));
    const heir = await masterOf(slotOf(key));
    expect(heir.port).not.toBe(master.port);
    // Now nobody is left for these slots: a new process serves the others, and these when a server is back.
    await heir.kill();
    const late = storageOf({ prefix: "killed:", timeoutMs: 1_000 });
    await until(() => succeeds(late.kv.get(other)));
    const failure = await Promise.resolve(late.kv.get(key)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StorageFailure);
    expect(failure).toMatchObject({ reason: "unavailable" });
    await heir.restart();
    await until(() => succeeds(late.kv.set(key, "x")));
  });
});

function succeeds(call: unknown): Promise<boolean> {
  return Promise.resolve(call).then(
    () => true,
    () => false,
  );
}

async function refusedSubscriptions(node: TestRedis): Promise<number> {
  const stats = String(await node.command("INFO", "commandstats"));
  return Number(/cmdstat_ssubscribe:.*rejected_calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

function holds(range: string, slot: number): boolean {
  const [from = -1, to = from] = range.split("-").map(Number);
  return from <= slot && slot <= to;
}

/** What `redis-cli --cluster reshard` does for one slot. */
async function moveSlot(slot: number, from: TestRedis, to: TestRedis): Promise<void> {
  const [fromId, toId] = [String(await from.command("CLUSTER", "MYID")), String(await to.command("CLUSTER", "MYID"))];
  await to.command("CLUSTER", "SETSLOT", `${slot}`, "IMPORTING", fromId);
  await from.command("CLUSTER", "SETSLOT", `${slot}`, "MIGRATING", toId);
  const keys = (await from.command("CLUSTER", "GETKEYSINSLOT", `${slot}`, "1000")) as string[];
  await from.command("MIGRATE", "127.0.0.1", `${to.port}`, "", "0", "5000", "KEYS", ...keys);
  await to.command("CLUSTER", "SETSLOT", `${slot}`, "NODE", toId);
  await from.command("CLUSTER", "SETSLOT", `${slot}`, "NODE", toId);
}
