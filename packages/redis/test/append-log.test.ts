import { type LogLimits, type LogRead, memoryStorage } from "@parley/mcp/storage";
import { type RedisStorage, redisStorage } from "@parley/redis";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasRedis, startRedis, type TestRedis, until } from "./start-redis.js";

const WIDE: LogLimits = { maxEntries: 1_000, maxBytes: 1_000_000, maxAgeMs: 3_600_000 };
const texts = (read: LogRead) => (read.evicted ? "evicted" : read.entries.map(({ entry }) => entry).join());

describe.skipIf(!hasRedis)("logs on Redis", () => {
  let redis: TestRedis;
  let storage: RedisStorage;
  beforeAll(async () => {
    redis = await startRedis();
    storage = redisStorage({ url: redis.url, timeoutMs: 10_000 });
  });
  afterAll(async () => {
    await storage?.close();
    await redis?.stop();
  });

  it("keep and lose what the memory of one process does, under any bounds", async () => {
    let stream = 0;
    const bounds = fc.record({
      maxEntries: fc.integer({ min: 1, max: 40 }),
      maxBytes: fc.integer({ min: 1, max: 400 }),
    });
    const append = fc.tuple(fc.integer({ min: 0, max: 60 }), bounds);
    await fc.assert(
      fc.asyncProperty(fc.array(append, { maxLength: 60 }), fc.nat(), async (appends, at) => {
        const [name, memory] = [`s${stream++}`, memoryStorage()];
        const ids: [number, number][] = [[0, 0]];
        for (const [length, limits] of appends) {
          const entry = "x".repeat(length);
          const given = { ...WIDE, ...limits };
          ids.push([memory.log.append(name, entry, given), await storage.log.append(name, entry, given)]);
        }
        for (const after of [0, at % ids.length, ids.length - 1]) {
          const [inMemory, inRedis] = ids[after] ?? [0, 0];
          for (const limit of [3, 1_000]) {
            const expected = texts(memory.log.read(name, inMemory, limit));
            expect(texts(await storage.log.read(name, inRedis, limit))).toBe(expected);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it("let no entry outlive a newer one", async () => {
    const first = await storage.log.append("ages", "a", WIDE);
    const second = await storage.log.append("ages", "b", { ...WIDE, maxAgeMs: 50 });
    await until(async () => (await storage.log.read("ages", 0, 10)).evicted);
    expect(texts(await storage.log.read("ages", first, 10))).toBe("evicted");
    expect(texts(await storage.log.read("ages", second, 10))).toBe("");
    await storage.log.append("ages", "c", WIDE);
    expect(texts(await storage.log.read("ages", second, 10))).toBe("c");
    // An entry that is old at once takes all before it along.
    const last = await storage.log.append("ages", "d", { ...WIDE, maxAgeMs: 0 });
    expect(texts(await storage.log.read("ages", second, 10))).toBe("evicted");
    expect(texts(await storage.log.read("ages", last, 10))).toBe("");
  });

  it("leave nothing behind when dropped", async () => {
    const own = redisStorage({ url: redis.url, prefix: "own:" });
    try {
      for (const name of ["s", "{s}", "s{}", "}"]) {
        await own.log.append(name, "e", WIDE);
        await own.log.drop(name);
      }
      expect(await redis.command("KEYS", "own:*")).toEqual([]);
    } finally {
      await own.close();
    }
  });
});
