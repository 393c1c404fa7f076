import type { Storage } from "../storage.js";
import { holds, type StorageCase, same, storageCase, timedCase } from "./contract-case.js";

const HARD_NAMES = ["", "__proto__", "constructor", "a:b", "a b\n", "\u0000", "é😀", "x".repeat(500)];

async function textOf({ kv }: Storage, key: string): Promise<string | undefined> {
  return (await kv.get(key))?.value;
}

const plain: StorageCase[] = [
  storageCase("a key that was never set is absent", async (storage) => {
    same(await storage.kv.get("k"), undefined, "get");
    same(await storage.kv.delete("k"), false, "delete");
    same(await storage.kv.touch("k", 1_000), false, "touch");
    same(await storage.kv.get("k"), undefined, "get after touch");
  }),
  storageCase("a value comes back as it was written, by any handle", async (storage, other) => {
    for (const value of ["", "{}", '{"é😀":"\\u0000"}', "\u0000", "y".repeat(100_000)]) {
      const version = await storage.kv.set("k", value);
      same(await other.kv.get("k"), { value, version }, "get");
    }
  }),
  storageCase("any string may be a key, and none is confused with another", async ({ kv }) => {
    for (const name of HARD_NAMES) same(await kv.get(name), undefined, `get ${JSON.stringify(name)} before set`);
    for (const name of HARD_NAMES) await kv.set(name, `value of ${name}`);
    for (const name of HARD_NAMES) same((await kv.get(name))?.value, `value of ${name}`, `get ${JSON.stringify(name)}`);
  }),
  storageCase("versions are positive integers and never repeat for a key", async ({ kv }) => {
    const seen = new Set<number | undefined>();
    for (let round = 0; round < 5; round++) {
      for (let write = 0; write < 3; write++) seen.add(await kv.set("k", "v"));
      await kv.delete("k");
    }
    same(seen.size, 15, "different versions");
    holds(
      [...seen].every((version) => Number.isSafeInteger(version) && Number(version) > 0),
      "versions are positive integers",
    );
  }),
];

const compareAndSet: StorageCase[] = [
  storageCase("ifVersion 0 writes only if the key is absent", async (storage) => {
    holds((await storage.kv.set("k", "first", { ifVersion: 0 })) !== undefined, "absent: written");
    same(await storage.kv.set("k", "second", { ifVersion: 0 }), undefined, "present: refused");
    same(await textOf(storage, "k"), "first", "value");
    await storage.kv.delete("k");
    holds((await storage.kv.set("k", "third", { ifVersion: 0 })) !== undefined, "deleted: written");
  }),
  storageCase("ifVersion writes only over that version", async (storage) => {
    const first = await storage.kv.set("k", "1");
    const second = await storage.kv.set("k", "2", { ifVersion: first ?? -1 });
    holds(second !== undefined && second !== first, "the present version: written");
    same(await storage.kv.set("k", "3", { ifVersion: first ?? -1 }), undefined, "a former version: refused");
    same(await storage.kv.set("absent", "3", { ifVersion: first ?? -1 }), undefined, "an absent key: refused");
    same(await textOf(storage, "k"), "2", "value");
    same(await textOf(storage, "absent"), undefined, "value of the absent key");
  }),
  storageCase("a version from before a delete never matches again", async (storage) => {
    const first = (await storage.kv.set("k", "1")) ?? -1;
    await storage.kv.delete("k");
    await storage.kv.set("k", "1");
    same(await storage.kv.set("k", "2", { ifVersion: first }), undefined, "set");
    same(await storage.kv.delete("k", { ifVersion: first }), false, "delete");
    same(await textOf(storage, "k"), "1", "value");
  }),
  storageCase("delete with ifVersion deletes only that version", async (storage) => {
    const first = (await storage.kv.set("k", "1")) ?? -1;
    const second = (await storage.kv.set("k", "2")) ?? -1;
    same(await storage.kv.delete("k", { ifVersion: first }), false, "a former version");
    same(await storage.kv.delete("k", { ifVersion: second }), true, "the present version");
    same(await storage.kv.get("k"), undefined, "get");
  }),
  storageCase("of concurrent writers with one ifVersion exactly one succeeds", async (storage, other) => {
    const attempts = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? storage : other).kv.set("k", `${index}`, { ifVersion: 0 }),
    );
    const versions = (await Promise.all(attempts)).filter((version) => version !== undefined);
    same(versions.length, 1, "winners");
    same((await storage.kv.get("k"))?.version, versions[0], "version");
  }),
  storageCase("no increment is lost when all retry on conflict", async (storage, other) => {
    await storage.kv.set("k", "0");
    const increment = async ({ kv }: Storage) => {
      for (let attempt = 0; attempt < 1_000; attempt++) {
        const now = await kv.get("k");
        if (now === undefined) throw new Error("the counter is gone");
        if ((await kv.set("k", `${Number(now.value) + 1}`, { ifVersion: now.version })) !== undefined) return;
      }
      throw new Error("1,000 conflicts in a row: no writer makes progress");
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => increment(index % 2 === 0 ? storage : other)));
    same(await textOf(storage, "k"), "20", "sum");
  }),
];

const expiry: StorageCase[] = [
  timedCase("a key lives for its ttlMs and is absent after it", async (storage, advance) => {
    const version = (await storage.kv.set("k", "v", { ttlMs: 500 })) ?? -1;
    await advance(100);
    same(await textOf(storage, "k"), "v", "before");
    await advance(500);
    same(await storage.kv.get("k"), undefined, "after");
    same(await storage.kv.touch("k", 500), false, "touch");
    same(await storage.kv.delete("k"), false, "delete");
    same(await storage.kv.set("k", "w", { ifVersion: version }), undefined, "its version no longer holds");
    holds((await storage.kv.set("k", "w", { ifVersion: 0 })) !== undefined, "it counts as absent");
  }),
  timedCase("set restarts the lifetime, and without ttlMs removes the expiry", async (storage, advance) => {
    await storage.kv.set("a", "v", { ttlMs: 400 });
    await storage.kv.set("b", "v", { ttlMs: 400 });
    await advance(200);
    await storage.kv.set("a", "w", { ttlMs: 400 });
    await storage.kv.set("b", "w");
    await advance(300);
    same([await textOf(storage, "a"), await textOf(storage, "b")], ["w", "w"], "after the first life");
    await advance(300);
    same([await textOf(storage, "a"), await textOf(storage, "b")], [undefined, "w"], "after the second life");
  }),
  timedCase("touch restarts the lifetime and keeps value and version", async (storage, advance) => {
    const version = await storage.kv.set("k", "v", { ttlMs: 400 });
    await advance(200);
    same(await storage.kv.touch("k", 400), true, "touch");
    await advance(300);
    same(await storage.kv.get("k"), { value: "v", version }, "kept");
    await advance(200);
    same(await storage.kv.get("k"), undefined, "gone");
  }),
  timedCase("a rejected write leaves value, version and lifetime unchanged", async (storage, advance) => {
    await storage.kv.set("k", "v", { ttlMs: 400 });
    await advance(200);
    same(await storage.kv.set("k", "w", { ttlMs: 10_000, ifVersion: 0 }), undefined, "refused");
    same(await textOf(storage, "k"), "v", "value");
    await advance(300);
    same(await storage.kv.get("k"), undefined, "gone at its own time");
  }),
  timedCase("ttlMs 0 means already expired", async (storage) => {
    await storage.kv.set("k", "v", { ttlMs: 0 });
    same(await storage.kv.get("k"), undefined, "set");
    await storage.kv.set("k", "v");
    await storage.kv.touch("k", 0);
    same(await storage.kv.get("k"), undefined, "touch");
  }),
];

export const keyValueCases: readonly StorageCase[] = [...plain, ...compareAndSet, ...expiry];
