import type { ContractClock } from "@parley/mcp/testing";
import { storageContract } from "@parley/mcp/testing";
import { redisStorage } from "@parley/redis";
import { afterAll, beforeAll, describe, it } from "vitest";
import { hasRedis, startCluster, startRedis, type TestCluster, type TestRedis } from "./start-redis.js";

const clock: ContractClock = { advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };
let prefixes = 0;

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
      await contract.run(storage, clock, other);
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
      await contract.run(storage, clock, other);
    } finally {
      await Promise.all([storage.close(), other.close()]);
    }
  });
});
