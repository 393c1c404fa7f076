import type { Storage } from "@parley/mcp/storage";
import type { ContractClock } from "@parley/mcp/testing";
import { storageContract } from "@parley/mcp/testing";
import { redisStorage } from "@parley/redis";
import { afterAll, beforeAll, describe, it } from "vitest";
import { hasRedis, startCluster, startRedis, type TestCluster, type TestRedis } from "./start-redis.js";

/** How many milliseconds stand for one of the contract, whose lifetimes a busy machine could outlast. */
const STRETCH = 4;
const clock: ContractClock = { advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms * STRETCH)) };
let prefixes = 0;

/** The storage with longer lifetimes. */
function stretched({ kv, log, pubsub }: Storage): Storage {
  const lasting = ({ ttlMs }: { ttlMs?: number | undefined }) =>
    ttlMs === undefined ? {} : { ttlMs: ttlMs * STRETCH };
  return {
    kv: {
      get: (key) => kv.get(key),
      set: (key, value, options = {}) => kv.set(key, value, { ...options, ...lasting(options) }),
      delete: (key, options) => kv.delete(key, options),
      touch: (key, ttlMs) => kv.touch(key, ttlMs * STRETCH),
    },
    log: {
      append: (stream, entry, limits) =>
        log.append(stream, entry, { ...limits, maxAgeMs: limits.maxAgeMs * STRETCH, ...lasting(limits) }),
      read: (stream, afterId, limit) => log.read(stream, afterId, limit),
      touch: (stream, ttlMs) => log.touch(stream, ttlMs * STRETCH),
      drop: (stream) => log.drop(stream),
    },
    pubsub,
  };
}

describe.skipIf(!hasRedis)("the storage contract on one server", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  // Each case has a prefix of its own, so that they can wait at the same time.
  it.concurrent.each(storageContract())("$name", async (contract) => {
    const prefix = `case-${prefixes++}:`;
    const [storage, other] = [redisStorage({ url: redis.url, prefix }), redisStorage({ url: redis.url, prefix })];
    try {
      await contract.run(stretched(storage), clock, stretched(other));
    } finally {
      await Promise.all([storage.close(), other.close()]);
    }
  });
});

describe.skipIf(!hasRedis)("the storage contract on a cluster of three masters", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster?.stop());

  it.concurrent.each(storageContract())("$name", async (contract) => {
    const prefix = `case-${prefixes++}:`;
    const [storage, other] = [
      redisStorage({ nodes: cluster.urls, prefix }),
      redisStorage({ nodes: cluster.urls, prefix }),
    ];
    try {
      await contract.run(stretched(storage), clock, stretched(other));
    } finally {
      await Promise.all([storage.close(), other.close()]);
    }
  });
});
