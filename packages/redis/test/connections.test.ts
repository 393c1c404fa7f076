import { redisStorage } from "@parley/redis";
import { expect, it } from "vitest";
import { hasRedis, startRedis } from "./start-redis.js";

const LIMITS = { maxEntries: 10, maxBytes: 10_000, maxAgeMs: 60_000 };

it.skipIf(!hasRedis)("one connection carries all commands of a storage, and one all its messages", async () => {
  const redis = await startRedis();
  const { kv, log, pubsub, close } = redisStorage({ url: redis.url });
  try {
    const heard: string[] = [];
    await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        await Promise.all([
          kv.set(`key ${at}`, "value"),
          log.append(`stream ${at}`, "entry", LIMITS),
          pubsub.subscribe(`topic ${at}`, (message) => heard.push(message)),
        ]);
        await pubsub.publish(`topic ${at}`, "message");
      }),
    );
    await expect.poll(() => heard.length).toBe(50);
    const connections = async (type: string) => {
      const lines = String(await redis.command("CLIENT", "LIST", "TYPE", type)).split("\n");
      // Without the connection that asks.
      return lines.filter((line) => line !== "" && !line.includes("cmd=client|list"));
    };
    expect(await connections("normal")).toHaveLength(1);
    expect(await connections("pubsub")).toHaveLength(1);
  } finally {
    await close();
    await redis.stop();
  }
});
