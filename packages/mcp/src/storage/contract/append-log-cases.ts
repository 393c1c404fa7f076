import type { LogLimits, LogRead } from "../storage.js";
import { holds, type StorageCase, same, storageCase, timedCase } from "./contract-case.js";

const WIDE_LIMITS: LogLimits = { maxEntries: 1_000, maxBytes: 1_000_000, maxAgeMs: 3_600_000 };
const EVICTED: LogRead = { evicted: true };
const EMPTY: LogRead = { evicted: false, entries: [] };

function texts(read: LogRead): string[] | "evicted" {
  return read.evicted ? "evicted" : read.entries.map(({ entry }) => entry);
}

const order: StorageCase[] = [
  storageCase("an absent stream is empty from the beginning, but every position in it is lost", async ({ log }) => {
    same(await log.read("s", 0, 10), EMPTY, "from the beginning");
    same(await log.read("s", 7, 10), EVICTED, "after 7");
    same(await log.touch("s", 1_000), false, "touch");
    await log.drop("s");
  }),
  storageCase("entries come back in order with growing ids, by any handle", async (storage, other) => {
    const entries = ["", "{}", "é😀\u0000", "x".repeat(10_000)];
    const ids: number[] = [];
    for (const entry of entries) ids.push(await storage.log.append("s", entry, WIDE_LIMITS));
    const expected = entries.map((entry, index) => ({ id: ids[index], entry }));
    same(await other.log.read("s", 0, 10), { evicted: false, entries: expected }, "read");
    holds(
      ids.every((id, index) => Number.isSafeInteger(id) && id > (ids[index - 1] ?? 0)),
      "ids are growing positive integers",
    );
  }),
  storageCase("read continues after an id, up to its limit", async ({ log }) => {
    const ids: number[] = [];
    for (let index = 0; index < 10; index++) ids.push(await log.append("s", `${index}`, WIDE_LIMITS));
    same(texts(await log.read("s", 0, 3)), ["0", "1", "2"], "first page");
    same(texts(await log.read("s", ids[2] ?? -1, 3)), ["3", "4", "5"], "second page");
    same(texts(await log.read("s", ids[8] ?? -1, 3)), ["9"], "last page");
    same(await log.read("s", ids[9] ?? -1, 3), EMPTY, "after the newest");
    same(await log.read("s", 0, 0), EMPTY, "limit 0");
  }),
  storageCase("streams do not mix", async ({ log }) => {
    for (const name of ["", "__proto__", "s", "s:1", "s 1\u0000"]) {
      same(await log.read(name, 0, 10), EMPTY, "before");
      await log.append(name, `entry of ${name}`, WIDE_LIMITS);
      same(texts(await log.read(name, 0, 10)), [`entry of ${name}`], "after");
    }
  }),
  storageCase("concurrent appends all get their own id and one common order", async (storage, other) => {
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? storage : other).log.append("s", `${index}`, WIDE_LIMITS),
      ),
    );
    const read = await storage.log.read("s", 0, 100);
    if (read.evicted) throw new Error("nothing was evicted");
    same(new Set(ids).size, 40, "different ids");
    for (const [index, id] of ids.entries()) {
      same(read.entries.find((found) => found.id === id)?.entry, `${index}`, `entry under id ${id}`);
    }
  }),
  storageCase("a position that was never reached is lost", async ({ log }) => {
    const id = await log.append("s", "a", WIDE_LIMITS);
    same(await log.read("s", id + 1_000, 10), EVICTED, "read");
  }),
];

const eviction: StorageCase[] = [
  storageCase("maxEntries evicts the oldest, and readers behind the gap learn about it", async ({ log }) => {
    const ids: number[] = [];
    for (let index = 0; index < 6; index++)
      ids.push(await log.append("s", `${index}`, { ...WIDE_LIMITS, maxEntries: 3 }));
    same(await log.read("s", 0, 10), EVICTED, "from the beginning");
    same(await log.read("s", ids[1] ?? -1, 10), EVICTED, "behind the gap");
    same(texts(await log.read("s", ids[2] ?? -1, 10)), ["3", "4", "5"], "at the edge: nothing after it is missing");
    same(texts(await log.read("s", ids[4] ?? -1, 10)), ["5"], "within");
  }),
  storageCase("maxBytes evicts the oldest", async ({ log }) => {
    const limits = { ...WIDE_LIMITS, maxBytes: 250 };
    const ids: number[] = [];
    for (const letter of ["a", "b", "c"]) ids.push(await log.append("s", letter.repeat(100), limits));
    same(await log.read("s", 0, 10), EVICTED, "from the beginning");
    same(texts(await log.read("s", ids[0] ?? -1, 10)), ["b".repeat(100), "c".repeat(100)], "kept");
  }),
  storageCase("the newest entry stays, whatever its size", async ({ log }) => {
    const first = await log.append("s", "a", { ...WIDE_LIMITS, maxBytes: 10 });
    await log.append("s", "b".repeat(100), { ...WIDE_LIMITS, maxBytes: 10 });
    same(texts(await log.read("s", first, 10)), ["b".repeat(100)], "read");
    same(await log.read("s", 0, 10), EVICTED, "from the beginning");
  }),
  storageCase("a dropped stream starts again above its old ids", async ({ log }) => {
    const old: number[] = [];
    for (let index = 0; index < 5; index++) old.push(await log.append("s", `old ${index}`, WIDE_LIMITS));
    await log.drop("s");
    same(await log.read("s", 0, 10), EMPTY, "dropped");
    same(await log.read("s", old[4] ?? -1, 10), EVICTED, "an old position while dropped");
    for (let index = 0; index < 5; index++) {
      const id = await log.append("s", `new ${index}`, WIDE_LIMITS);
      holds(id > (old[4] ?? 0), "the new id is above the old ones");
    }
    same(texts(await log.read("s", 0, 10)), ["new 0", "new 1", "new 2", "new 3", "new 4"], "from the beginning");
    same(await log.read("s", old[1] ?? -1, 10), EVICTED, "an old position");
  }),
];

const expiry: StorageCase[] = [
  timedCase("an entry is gone after maxAgeMs, and readers behind it learn about it", async ({ log }, advance) => {
    const limits = { ...WIDE_LIMITS, maxAgeMs: 500 };
    const first = await log.append("s", "a", limits);
    await advance(300);
    const second = await log.append("s", "b", limits);
    await advance(300);
    same(await log.read("s", 0, 10), EVICTED, "from the beginning");
    same(texts(await log.read("s", first, 10)), ["b"], "after the gap");
    await advance(300);
    same(await log.read("s", first, 10), EVICTED, "both gone");
    same(await log.read("s", second, 10), EMPTY, "a reader who saw both has missed nothing");
  }),
  timedCase("a stream is gone after its ttlMs, which append and touch restart", async ({ log }, advance) => {
    const first = await log.append("s", "a", { ...WIDE_LIMITS, ttlMs: 400 });
    await advance(200);
    await log.append("s", "b", { ...WIDE_LIMITS, ttlMs: 400 });
    await advance(300);
    same(await log.touch("s", 400), true, "touch");
    await advance(300);
    same(texts(await log.read("s", 0, 10)), ["a", "b"], "kept");
    await advance(200);
    same(await log.read("s", 0, 10), EMPTY, "gone");
    same(await log.read("s", first, 10), EVICTED, "a position in it");
    holds((await log.append("s", "c", WIDE_LIMITS)) > first, "ids keep growing");
    same(await log.read("s", first, 10), EVICTED, "a position in the former stream");
  }),
  timedCase("an append without ttlMs makes the stream live until dropped", async ({ log }, advance) => {
    await log.append("s", "a", { ...WIDE_LIMITS, ttlMs: 200 });
    await log.append("s", "b", WIDE_LIMITS);
    await advance(400);
    same(texts(await log.read("s", 0, 10)), ["a", "b"], "read");
  }),
];

export const appendLogCases: readonly StorageCase[] = [...order, ...eviction, ...expiry];
