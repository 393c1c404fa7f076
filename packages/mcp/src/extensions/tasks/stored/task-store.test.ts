import { describe, expect, it } from "vitest";
import { platform as nodePlatform } from "../../../node/platform.js";
import { delayedStorage } from "../../../storage/delayed-storage.js";
import { createMemoryStorage } from "../../../storage/memory.js";
import type { KeyValue } from "../../../storage/storage.js";
import { fakeClock } from "../../../testing/fake-clock.js";
import { endedRecord, type TaskRecord } from "./task-record.js";
import { TaskStore } from "./task-store.js";

const WIDE = { kept: 10_000, running: 10_000 };

function made() {
  const clock = fakeClock(1_000_000);
  const platform = { ...nodePlatform, ...clock.platform, warn() {} };
  const storage = createMemoryStorage({ clock });
  const slow = delayedStorage(storage);
  const store = (kv: KeyValue = slow.kv) => new TaskStore(kv, platform, "s", 10_000);
  const record = (id: string, ttlMs = 60_000): TaskRecord => ({
    id,
    owner: "ada",
    createdAt: clock.now(),
    updatedAt: clock.now(),
    ttlMs,
    pollIntervalMs: 10,
    status: "working",
    retry: 0,
    lease: { node: "n", token: 1 },
    questions: {},
    answers: {},
    steps: {},
  });
  const keys = () => {
    storage.sweep();
    return storage.usage().keys;
  };
  return { clock, storage, slow, store, record, keys };
}

describe("the tasks of one principal", () => {
  it("can all be created at once, by two processes", async () => {
    const { store, record } = made();
    const [one, other] = [store(), store()];
    const ids = Array.from({ length: 500 }, (_, at) => `t${at}`);
    await Promise.all(ids.map((id, at) => (at % 2 === 0 ? one : other).create(record(id), WIDE)));
    expect(new Set(await one.owned("ada"))).toEqual(new Set(ids));
  });

  it("are bounded exactly, however many are created at once", async () => {
    const { store, record } = made();
    const [one, other] = [store(), store()];
    const created = await Promise.allSettled(
      Array.from({ length: 60 }, (_, at) =>
        (at % 2 === 0 ? one : other).create(record(`t${at}`), { kept: 100, running: 25 }),
      ),
    );
    const refused = created.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    expect(refused).toHaveLength(35);
    for (const { reason } of refused) {
      expect(reason).toMatchObject({ kind: "limit_exceeded", data: { limit: "runningPerPrincipal", value: 25 } });
    }
    expect(await one.owned("ada")).toHaveLength(25);
  });

  it("make room when they end, and leave the list when they expire", async () => {
    const { clock, store, record, keys } = made();
    const one = store();
    const limits = { kept: 2, running: 1 };
    await one.create(record("a", 5000), limits);
    await expect(one.create(record("b"), limits)).rejects.toMatchObject({ data: { limit: "runningPerPrincipal" } });
    await one.markEnded(record("a"));
    await one.create(record("b"), limits);
    await clock.advance(5001);
    expect(await one.owned("ada")).toEqual(["b"]);
    await one.markEnded(record("b"));
    await one.create(record("c"), limits);
    expect(await one.owned("ada")).toEqual(["b", "c"]);
    await clock.advance(60_001);
    expect(await one.owned("ada")).toEqual([]);
    expect(keys()).toBe(0);
  });

  it("make room for new ones when they are over, the oldest first, and are refused when all of them run", async () => {
    const { store, record, keys } = made();
    const one = store();
    const limits = { kept: 3, running: 9 };
    for (const id of ["a", "b", "c"]) await one.create(record(id), limits);
    await expect(one.create(record("d"), limits)).rejects.toMatchObject({ data: { limit: "keptPerPrincipal" } });
    await one.markEnded(record("b"));
    await one.markEnded(record("c"));
    await one.create(record("d"), limits);
    expect(await one.owned("ada")).toEqual(["a", "c", "d"]);
    expect(await one.read("b")).toBeUndefined();
    expect(keys()).toBe(4);
  });

  it("do not count as running when they are over from the beginning", async () => {
    const { store, record } = made();
    const one = store();
    const limits = { kept: 9, running: 1 };
    await one.create(record("a"), limits);
    await one.create(endedRecord(record("b"), "completed", { result: {} }), limits);
    await expect(one.create(record("c"), limits)).rejects.toMatchObject({ data: { limit: "runningPerPrincipal" } });
  });

  it("do not count as running for ever when a process ended before it could say that they are over", async () => {
    const { clock, store, record } = made();
    const one = store();
    const limits = { kept: 100, running: 3 };
    for (const id of ["a", "b", "c"]) await one.create(record(id, 600_000), limits);
    await one.update("b", (found) => endedRecord(found, "completed", { result: {} }));
    await expect(one.create(record("d"), limits)).rejects.toMatchObject({ kind: "limit_exceeded" });
    await clock.advance(61_000);
    await one.create(record("d"), limits);
    await expect(one.create(record("e"), limits)).rejects.toMatchObject({ kind: "limit_exceeded" });
  });

  it("leave nothing behind when they could not be stored", async () => {
    const { slow, store, record, keys } = made();
    const failing: KeyValue = {
      ...slow.kv,
      set: (key, value, options) =>
        key.endsWith("/a") ? Promise.reject(new Error("full")) : slow.kv.set(key, value, options),
    };
    const one = store(failing);
    await expect(one.create(record("a"), WIDE)).rejects.toThrow("full");
    expect(await one.owned("ada")).toEqual([]);
    expect(keys()).toBe(0);
  });
});

describe("a task that no client was told of", () => {
  it("is removed later when the storage fails meanwhile", async () => {
    const { slow, store, record, keys } = made();
    let fails = true;
    const failing: KeyValue = {
      ...slow.kv,
      delete: (key, options) => (fails ? Promise.reject(new Error("no answer")) : slow.kv.delete(key, options)),
    };
    const one = store(failing);
    await one.create(record("a"), WIDE);
    await one.discard(record("a"));
    expect(one.isPendingRemoval("a")).toBe(true);
    expect(await one.retryDiscards()).toEqual([]);
    fails = false;
    expect(await one.retryDiscards()).toEqual(["a"]);
    expect(one.isPendingRemoval("a")).toBe(false);
    expect(keys()).toBe(0);
  });

  it("is forgotten when it has expired", async () => {
    const { clock, slow, store, record } = made();
    const one = store({ ...slow.kv, delete: () => Promise.reject(new Error("no answer")) });
    await one.create(record("a", 5000), WIDE);
    await one.discard(record("a", 5000));
    await clock.advance(5001);
    expect(await one.retryDiscards()).toEqual(["a"]);
  });
});

describe("a stored task", () => {
  it("is changed by many at once with no change lost", async () => {
    const { store, record } = made();
    const stores = [store(), store()];
    await stores[0]?.create(record("a"), WIDE);
    await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        stores[at % 2]?.update("a", (found) => ({ ...found, retry: found.retry + 1 })),
      ),
    );
    expect((await stores[0]?.read("a"))?.retry).toBe(40);
  });

  it("never goes back in time, and is not stored again when it has expired", async () => {
    const { clock, store, record } = made();
    const one = store();
    await one.create({ ...record("a", 5000), updatedAt: clock.now() + 1000 }, WIDE);
    const changed = await one.update("a", (found) => ({ ...found, statusMessage: "x" }));
    expect(changed?.updatedAt).toBe(clock.now() + 1000);
    await clock.advance(5000);
    expect(await one.update("a", (found) => ({ ...found, statusMessage: "y" }))).toBeUndefined();
  });
});
