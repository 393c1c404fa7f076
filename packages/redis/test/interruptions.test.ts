import { StorageFailure } from "@parley/mcp/storage";
import { type RedisStorage, redisStorage } from "@parley/redis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasRedis, startRedis, type TestRedis, until } from "./start-redis.js";

const open: RedisStorage[] = [];

describe.skipIf(!hasRedis)("an interruption", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis(["--busy-reply-threshold", "1"]);
  });
  afterAll(() => redis?.stop());
  afterEach(async () => {
    await Promise.all(open.splice(0).map((storage) => storage.close()));
  });
  const storageOf = (prefix: string, timeoutMs = 10_000) => {
    const storage = redisStorage({ url: redis.url, prefix, timeoutMs });
    open.push(storage);
    return storage;
  };

  it("by a script of somebody else leaves no subscription deaf, and calls say that Redis is busy", async () => {
    const { pubsub } = storageOf("busy:", 300);
    const heard: string[] = [];
    const listen = () =>
      pubsub.subscribe(
        "t",
        (message) => heard.push(message),
        () => heard.push("gap"),
      );
    await until(() => Promise.resolve(listen()).then(Boolean, () => false));
    await redis.command("CLIENT", "KILL", "TYPE", "pubsub");
    const forOneSecond = `local function now() local time = redis.call('TIME') return time[1] * 1000000 + time[2] end
      local ends = now() + 1000000 while now() < ends do end`;
    const script = redis.command("EVAL", forOneSecond, "0");
    const outcomes: unknown[] = [];
    await until(async () => {
      outcomes.push(await Promise.resolve(pubsub.publish("u", "m")).catch((error: unknown) => error));
      return String(outcomes.at(-1)).includes("busy");
    });
    expect(outcomes.at(-1)).toBeInstanceOf(StorageFailure);
    expect(outcomes.at(-1)).toMatchObject({ reason: "unavailable" });
    await script;
    await until(() => heard.includes("gap"));
    await until(() =>
      Promise.resolve(pubsub.publish("t", "after")).then(
        () => true,
        () => false,
      ),
    );
    await until(() => heard.includes("after"));
    expect(heard).toEqual(["gap", "after"]);
  });

  it("leaves no channel behind of those who left meanwhile", async () => {
    const { pubsub } = storageOf("left:");
    const topics = Array.from({ length: 2_000 }, (_, at) => `${at}`);
    const stops = await Promise.all(topics.map((topic) => pubsub.subscribe(topic, () => {})));
    await redis.command("CLIENT", "KILL", "TYPE", "pubsub");
    for (const stop of stops) {
      await stop();
      // All over the time of the new connection.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await pubsub.subscribe("kept", () => {});
    const channels = async () => (await redis.command("PUBSUB", "CHANNELS", "left:*")) as string[];
    await expect.poll(channels).toEqual(["left:t:kept"]);
  });

  it("does not keep a storage from being closed, however often", async () => {
    const storage = storageOf("twice:", 300);
    await until(() =>
      Promise.resolve(storage.kv.get("k")).then(
        () => true,
        () => false,
      ),
    );
    redis.pause();
    try {
      const call = Promise.resolve(storage.kv.get("k")).catch((error: StorageFailure) => error.reason);
      await Promise.all([storage.close(), storage.close()]);
      expect(await call).toBe("timeout");
    } finally {
      redis.resume();
    }
  });
});
