import { describe, expect, it } from "vitest";
import { platform } from "../../node/platform.js";
import { memoryStorage } from "../../storage.js";
import { fakeClock } from "../../testing/fake-clock.js";
import { SharedPlaces } from "./shared-places.js";

const LEASE_MS = 30_000;

function nodes() {
  const clock = fakeClock(1_700_000_000_000);
  const { kv } = memoryStorage({ clock });
  const node = () => new SharedPlaces({ ...platform, ...clock.platform }, kv, LEASE_MS);
  return { clock, kv, node };
}

describe("places of calls on all nodes together", () => {
  it("are never more than the limit, and are free for another node when a call ends", async () => {
    const { clock, kv, node } = nodes();
    const [a, b] = [node(), node()];
    const entered = await Promise.all(Array.from({ length: 10 }, (_, index) => (index % 2 ? a : b).acquire("k", 4)));
    expect(entered.filter(Boolean)).toHaveLength(4);
    const ofA = entered.filter((one, index) => one && index % 2 === 1).length;
    for (let left = 0; left < ofA; left++) a.release("k");
    await clock.advance(0);
    const again = await Promise.all(Array.from({ length: 4 }, () => b.acquire("k", 4)));
    expect(again.filter(Boolean)).toHaveLength(ofA);
    for (let left = 0; left < 4; left++) b.release("k");
    await clock.advance(0);
    expect([await kv.get("k"), a.size, b.size]).toEqual([undefined, 0, 0]);
  });

  it("stay taken while their node lives, and come back when it died", async () => {
    const { clock, node } = nodes();
    const [a, b] = [node(), node()];
    expect(await a.acquire("k", 1)).toBe(true);
    await clock.advance(10 * LEASE_MS);
    expect(await b.acquire("k", 1)).toBe(false);
    // A node that died renews nothing.
    a.close();
    await clock.advance(LEASE_MS + 1);
    expect(await b.acquire("k", 1)).toBe(true);
  });

  it("survive a damaged value", async () => {
    const { kv, node } = nodes();
    for (const text of ["{", "[]", '{"x":[1]}', '{"x":["a","b"]}', "null", '{"__proto__":[9,9e15]}']) {
      await kv.set("k", text);
      const one = node();
      expect(await one.acquire("k", 20)).toBe(true);
    }
  });
});
