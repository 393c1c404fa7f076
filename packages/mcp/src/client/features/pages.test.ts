import { describe, expect, it } from "vitest";
import { settleMany } from "./pages.js";

describe("settleMany", () => {
  it("gives every outcome in the order of the items", async () => {
    const outcomes = await settleMany([3, 1, 2], 2, async (item) => {
      await new Promise((resolve) => setTimeout(resolve, item));
      if (item === 1) throw new Error("one");
      return item * 10;
    });
    expect(outcomes).toEqual([
      { status: "fulfilled", value: 30 },
      { status: "rejected", reason: new Error("one") },
      { status: "fulfilled", value: 20 },
    ]);
  });

  for (const limit of [0, -1, 0.5, 1, 2, 100, Number.POSITIVE_INFINITY]) {
    it(`a limit of ${limit} still does all the work, at least one at a time`, async () => {
      let running = 0;
      let most = 0;
      const items = Array.from({ length: 10 }, (_, index) => index);
      const outcomes = await settleMany(items, limit, async () => {
        running++;
        most = Math.max(most, running);
        await Promise.resolve();
        running--;
      });
      expect(outcomes).toHaveLength(10);
      expect(most).toBe(Math.max(1, Math.min(10, Math.floor(limit))));
    });
  }

  it("no items are no work", async () => {
    expect(await settleMany([], 5, () => Promise.reject(new Error("never")))).toEqual([]);
  });
});
