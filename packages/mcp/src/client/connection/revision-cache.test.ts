import { describe, expect, it } from "vitest";
import { RevisionCache } from "./current-connection.js";

describe("ERA-01: the memory of revisions", () => {
  it("knows what was learnt, by key", () => {
    const cache = new RevisionCache();
    cache.set("a", "2025-11-25");
    cache.set("b", "2026-07-28");
    expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual(["2025-11-25", "2026-07-28", undefined]);
  });

  it("keeps what a pinned client came to from clients that may speak more", () => {
    const cache = new RevisionCache();
    cache.set("a", "2025-06-18", ["2025-06-18", "2025-03-26"]);
    expect(cache.get("a")).toBeUndefined();
    expect(cache.get("a", ["2025-11-25"])).toBeUndefined();
    expect(cache.get("a", ["2025-03-26", "2025-06-18"])).toBe("2025-06-18");
  });

  it("learns nothing of servers that have no name", () => {
    const cache = new RevisionCache();
    cache.set(undefined, "2025-11-25");
    expect(cache.get(undefined)).toBeUndefined();
  });

  it("is bounded; what was learnt longest ago goes first", () => {
    const cache = new RevisionCache();
    for (let index = 0; index < 600; index++) cache.set(`s${index}`, "2025-11-25");
    expect(cache.get("s0")).toBeUndefined();
    expect(cache.get("s599")).toBe("2025-11-25");
  });
});
