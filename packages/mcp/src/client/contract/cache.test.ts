import { describe, expect, it } from "vitest";
import { CachedCalls, ResponseCache } from "./cache.js";

const list = (ttlMs: unknown, cacheScope: unknown = "private", tools: unknown[] = []) => ({ tools, ttlMs, cacheScope });

describe("the cache of one client", () => {
  it("CACHE-03: keeps a result exactly as long as its hint says", () => {
    const cache = new CachedCalls("s", {});
    cache.save("tools/list", undefined, list(1000), 5000);
    expect(cache.find("tools/list", undefined, 5999)).toEqual(list(1000));
    expect(cache.find("tools/list", undefined, 6000)).toBeUndefined();
  });

  it("keeps nothing longer than a day, whatever the server says", () => {
    const cache = new CachedCalls("s", {});
    cache.save("tools/list", undefined, list(1.7e308), 0);
    expect(cache.find("tools/list", undefined, 86_399_999)).toBeDefined();
    expect(cache.find("tools/list", undefined, 86_400_000)).toBeUndefined();
  });

  for (const ttl of [0, -1, undefined, null, "1000", Number.NaN]) {
    it(`CACHE-03: a ttlMs of ${String(ttl)} keeps nothing`, () => {
      const cache = new CachedCalls("s", {});
      cache.save("tools/list", undefined, list(ttl), 0);
      expect(cache.find("tools/list", undefined, 0)).toBeUndefined();
    });
  }

  it("CACHE-04, CACHE-09: a result serves only the same method and parameters, whatever their order", () => {
    const cache = new CachedCalls("s", {});
    cache.save("x", { a: 1, b: 2 }, list(10, "private", ["ab"]), 0);
    expect(cache.find("x", { b: 2, a: 1 }, 1)).toBeDefined();
    expect(cache.find("x", { a: 1, b: 2, _meta: { z: 1 } }, 1)).toBeDefined();
    for (const params of [undefined, { a: 1 }, { a: 1, b: 3 }, { a: 1, b: "2" }])
      expect(cache.find("x", params, 1)).toBeUndefined();
    expect(cache.find("y", { a: 1, b: 2 }, 1)).toBeUndefined();
  });

  it("CACHE-05: requests that carry answers are neither served nor kept", () => {
    const cache = new CachedCalls("s", {});
    cache.save("resources/read", { uri: "u", requestState: "s" }, list(10), 0);
    cache.save("resources/read", { uri: "u" }, list(10), 0);
    expect(cache.find("resources/read", { uri: "u", requestState: "s" }, 1)).toBeUndefined();
    expect(cache.find("resources/read", { uri: "u", inputResponses: {} }, 1)).toBeUndefined();
  });

  it("nobody can change what others will be given", () => {
    const cache = new CachedCalls("s", {});
    cache.save("tools/list", undefined, list(10), 0);
    const given = cache.find("tools/list", undefined, 1) ?? {};
    (given["tools"] as unknown[]).push("mine");
    expect(cache.find("tools/list", undefined, 1)).toEqual(list(10));
  });

  const stale: [notification: string, params: object | undefined, gone: string[]][] = [
    ["notifications/tools/list_changed", undefined, ["tools/list"]],
    ["notifications/prompts/list_changed", undefined, ["prompts/list"]],
    ["notifications/resources/list_changed", undefined, ["resources/list", "resources/templates/list"]],
    ["notifications/resources/updated", { uri: "file:///a/part" }, ["resources/read"]],
    ["notifications/resources/updated", { uri: "file:///ab" }, []],
    ["notifications/unheard/of", undefined, []],
  ];
  for (const [notification, params, gone] of stale) {
    it(`CACHE-07: ${notification} ${JSON.stringify(params ?? "")} makes ${gone.join(", ") || "nothing"} stale`, () => {
      const cache = new CachedCalls("s", {});
      const methods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
      for (const method of methods) cache.save(method, undefined, list(10), 0);
      cache.save("resources/read", { uri: "file:///a" }, list(10), 0);
      cache.changed(notification, params as never);
      const left = methods.filter((method) => cache.find(method, undefined, 1) !== undefined);
      if (cache.find("resources/read", { uri: "file:///a" }, 1) !== undefined) left.push("resources/read");
      expect([...left, ...gone].sort()).toEqual([...methods, "resources/read"].sort());
    });
  }
});

describe("a cache that clients share", () => {
  const store = () => new ResponseCache();

  it("CACHE-06: what is private stays with its context, what is public goes to all", () => {
    const shared = store();
    const ada = new CachedCalls("s", { store: shared, context: "ada" });
    const ada2 = new CachedCalls("s", { store: shared, context: "ada" });
    const bob = new CachedCalls("s", { store: shared, context: "bob" });
    const nobody = new CachedCalls("s", { store: shared });
    const nobody2 = new CachedCalls("s", { store: shared });
    ada.save("private", undefined, list(10, "private"), 0);
    ada.save("public", undefined, list(10, "public"), 0);
    ada.save("odd", undefined, list(10, "everybody"), 0);
    nobody.save("own", undefined, list(10), 0);
    expect(ada2.find("private", undefined, 1)).toBeDefined();
    for (const other of [bob, nobody]) {
      expect(other.find("private", undefined, 1)).toBeUndefined();
      expect(other.find("odd", undefined, 1)).toBeUndefined();
      expect(other.find("public", undefined, 1)).toBeDefined();
    }
    expect(nobody2.find("own", undefined, 1)).toBeUndefined();
  });

  it("servers are kept apart; one that has no name shares nothing", () => {
    const shared = store();
    new CachedCalls("a", { store: shared }).save("x", undefined, list(10, "public"), 0);
    expect(new CachedCalls("b", { store: shared }).find("x", undefined, 1)).toBeUndefined();
    new CachedCalls(undefined, { store: shared }).save("x", undefined, list(10, "public"), 0);
    expect(new CachedCalls(undefined, { store: shared }).find("x", undefined, 1)).toBeUndefined();
  });

  it("is bounded by count and by size; the least used goes first", () => {
    const few = new ResponseCache({ entries: 3 });
    const cache = new CachedCalls("s", { store: few });
    for (const key of ["a", "b", "c"]) cache.save(key, undefined, list(100), 0);
    cache.find("a", undefined, 1);
    cache.save("d", undefined, list(100), 1);
    expect(few.count).toBe(3);
    expect(["a", "b", "c", "d"].filter((key) => cache.find(key, undefined, 2) !== undefined)).toEqual(["a", "c", "d"]);

    const small = new ResponseCache({ size: 200 });
    const tight = new CachedCalls("s", { store: small });
    for (let index = 0; index < 100; index++) tight.save(`k${index}`, undefined, list(100), 0);
    expect(small.count).toBeLessThan(5);
    tight.save("huge", undefined, list(100, "private", ["x".repeat(300)]), 0);
    expect(tight.find("huge", undefined, 1)).toBeUndefined();
  });
});
