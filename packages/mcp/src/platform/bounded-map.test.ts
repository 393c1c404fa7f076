import { describe, expect, it } from "vitest";
import { BoundedMap, type Eviction } from "./bounded-map.js";

function filled(eviction?: Eviction) {
  const map = new BoundedMap<string, number>(2, eviction);
  map.set("a", 1);
  map.set("b", 2);
  return map;
}

describe("BoundedMap", () => {
  it("drops the entry that was written longest ago", () => {
    const map = filled();
    map.set("a", 3);
    map.get("b");
    expect(map.set("c", 4)).toBe(true);
    expect([...map]).toEqual([
      ["a", 3],
      ["c", 4],
    ]);
  });

  it("drops the entry that was not used for longest", () => {
    const map = filled("unused");
    map.get("a");
    map.set("c", 4);
    expect([...map.keys()]).toEqual(["a", "c"]);
  });

  it("drops all entries", () => {
    const map = filled("all");
    map.set("a", 3);
    expect(map.size).toBe(2);
    map.set("c", 4);
    expect([...map.values()]).toEqual([4]);
  });

  it("refuses new keys until one is deleted", () => {
    const map = filled("refuse");
    expect([map.set("c", 4), map.set("b", 5), map.has("c")]).toEqual([false, true, false]);
    map.delete("a");
    expect(map.set("c", 4)).toBe(true);
    map.clear();
    expect(map.size).toBe(0);
  });
});
