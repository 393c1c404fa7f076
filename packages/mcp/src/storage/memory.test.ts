import { describe, expect, it } from "vitest";
import { storageContract } from "./contract/storage-contract.js";
import { delayedStorage } from "./delayed-storage.js";
import { createMemoryStorage, type MemoryLimits } from "./memory.js";
import { StorageError } from "./storage.js";

function fakeClock() {
  let time = 1_000;
  return {
    now: () => time,
    advance(ms: number) {
      time += ms;
    },
  };
}

function fresh(limits: Partial<MemoryLimits> = {}) {
  const clock = fakeClock();
  return { clock, storage: createMemoryStorage({ clock, limits }) };
}

const WIDE = { maxEntries: 100, maxBytes: 100_000, maxAgeMs: 60_000 };

describe("the storage contract", () => {
  for (const item of storageContract()) {
    it(`memory: ${item.name}`, async () => {
      const { clock, storage } = fresh();
      await item.run(storage, clock);
    });
    it(`memory behind delays: ${item.name}`, async () => {
      const { clock, storage } = fresh();
      await item.run(delayedStorage(storage), clock, delayedStorage(storage));
    });
  }

  it("is tested by cases that can fail", async () => {
    const { clock, storage } = fresh();
    const forgetful = {
      ...storage,
      kv: { ...storage.kv, get: () => undefined, set: () => 1, delete: () => false, touch: () => false },
    };
    const failures = await Promise.allSettled(
      storageContract()
        .filter((item) => item.name.startsWith("key-value"))
        .map((item) => item.run(forgetful, clock)),
    );
    expect(failures.filter(({ status }) => status === "rejected").length).toBeGreaterThan(8);
  });

  it("says which case needs a clock", async () => {
    const timed = storageContract().find((item) => item.timed);
    await expect(timed?.run(fresh().storage)).rejects.toThrow(/needs a clock/);
  });
});

describe("memory storage", () => {
  it("answers without a promise", () => {
    const { storage } = fresh();
    expect(storage.kv.set("k", "v")).toBe(1);
    expect(storage.kv.get("k")).toEqual({ value: "v", version: 1 });
    expect(storage.log.append("s", "e", WIDE)).toBe(1);
    const heard: string[] = [];
    storage.pubsub.subscribe("t", (message) => heard.push(message));
    storage.pubsub.publish("t", "m");
    expect(heard).toEqual(["m"]);
  });

  it("refuses a key beyond maxKeys by name, changes nothing, and takes it once another has expired", () => {
    const { storage, clock } = fresh({ maxKeys: 2 });
    storage.kv.set("a", "1", { ttlMs: 100 });
    storage.kv.set("b", "1");
    expect(() => storage.kv.set("c", "1")).toThrow(StorageError);
    expect(() => storage.kv.set("c", "1")).toThrow(/limit maxKeys of 2.*Raise limits.maxKeys/);
    expect(storage.kv.set("b", "2")).toBeDefined();
    expect(storage.kv.get("c")).toBeUndefined();
    clock.advance(100);
    expect(storage.kv.set("c", "1")).toBeDefined();
  });

  it("refuses bytes beyond maxBytes over keys and logs together, and counts them back when they go", () => {
    const { storage } = fresh({ maxBytes: 100 });
    storage.kv.set("k", "x".repeat(49));
    storage.log.append("s", "x".repeat(48), WIDE);
    expect(storage.usage().bytes).toBe(99);
    expect(() => storage.kv.set("m", "xx")).toThrow(/maxBytes/);
    expect(() => storage.log.append("s", "xx", WIDE)).toThrow(/maxBytes/);
    expect(storage.log.append("s", "y".repeat(49), { ...WIDE, maxEntries: 1 })).toBe(2);
    expect(storage.kv.set("k", "y".repeat(49))).toBeDefined();
    expect(storage.usage().bytes).toBe(100);
    storage.kv.delete("k");
    storage.log.drop("s");
    expect(storage.usage()).toEqual({ keys: 0, streams: 0, subscriptions: 0, bytes: 0 });
  });

  it("refuses streams and subscriptions beyond their limits by name", () => {
    const { storage } = fresh({ maxStreams: 1, maxSubscriptions: 1 });
    storage.log.append("a", "", WIDE);
    expect(() => storage.log.append("b", "", WIDE)).toThrow(/maxStreams/);
    const stop = storage.pubsub.subscribe("t", () => {});
    expect(() => storage.pubsub.subscribe("t", () => {})).toThrow(/maxSubscriptions/);
    stop();
    stop();
    expect(storage.pubsub.subscribe("t", () => {})).toBeTypeOf("function");
  });

  it("frees expired entries while others are used, without a timer", () => {
    const { storage, clock } = fresh();
    for (let index = 0; index < 1_000; index++) {
      storage.kv.set(`k${index}`, "v", { ttlMs: 100 });
      storage.log.append(`s${index}`, "e", { ...WIDE, ttlMs: 100 });
    }
    clock.advance(100);
    for (let index = 0; index < 600; index++) {
      storage.kv.get("other");
      storage.log.read("other", 0, 1);
    }
    expect(storage.usage()).toEqual({ keys: 0, streams: 0, subscriptions: 0, bytes: 0 });
  });

  it("frees every expired entry at once when asked", () => {
    const { storage, clock } = fresh();
    for (let index = 0; index < 1_000; index++) storage.kv.set(`k${index}`, "v", { ttlMs: 100 });
    storage.log.append("s", "old entry", { ...WIDE, maxAgeMs: 100 });
    clock.advance(100);
    storage.sweep();
    expect(storage.usage()).toEqual({ keys: 0, streams: 1, subscriptions: 0, bytes: 1 });
  });

  it("keeps a busy ring log at bounded size", () => {
    const { storage } = fresh();
    for (let index = 0; index < 200_000; index++) storage.log.append("s", "0123456789", WIDE);
    expect(storage.usage().bytes).toBe(100 * 10 + 1);
    expect(storage.log.read("s", 200_000 - 100, 1_000)).toMatchObject({ evicted: false });
    expect(storage.log.read("s", 200_000 - 101, 1_000)).toEqual({ evicted: true });
  });

  it("treats positions that are no ids as lost", () => {
    const { storage } = fresh();
    storage.log.append("s", "e", WIDE);
    for (const bad of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1.5]) {
      expect(storage.log.read("s", bad, 10)).toEqual({ evicted: true });
    }
  });

  it("goes on to deliver when whoever hears of failures fails too", () => {
    const storage = createMemoryStorage({
      clock: { now: () => 0 },
      onDeliverError: () => {
        throw new Error("the reporter broke");
      },
    });
    const heard: string[] = [];
    storage.pubsub.subscribe("t", () => {
      throw new Error("the subscriber broke");
    });
    storage.pubsub.subscribe("t", (message) => heard.push(message));
    storage.pubsub.publish("t", "one");
    storage.pubsub.publish("t", "two");
    expect(heard).toEqual(["one", "two"]);
  });

  it("reports what a subscriber threw, and forgets everything on close", () => {
    const errors: unknown[] = [];
    const storage = createMemoryStorage({
      clock: fakeClock(),
      onDeliverError: (error, topic) => errors.push([error, topic]),
    });
    storage.pubsub.subscribe("t", () => {
      throw "fault";
    });
    storage.pubsub.publish("t", "m");
    expect(errors).toEqual([["fault", "t"]]);
    storage.kv.set("k", "v");
    storage.close();
    storage.pubsub.publish("t", "m");
    expect(errors).toHaveLength(1);
    expect(storage.usage()).toEqual({ keys: 0, streams: 0, subscriptions: 0, bytes: 0 });
  });
});
