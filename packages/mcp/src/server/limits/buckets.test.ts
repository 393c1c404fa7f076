import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { platform } from "../../node/platform.js";
import type { KeyValue } from "../../storage/storage.js";
import { memoryStorage } from "../../storage.js";
import { fakeClock } from "../../testing/fake-clock.js";
import type { FullRate } from "../contract/quota-options.js";
import { NodeBuckets } from "./counts.js";
import { SharedBuckets } from "./shared-buckets.js";

const rates = fc.record({
  intervalMs: fc.double({ min: 0.5, max: 5000, noNaN: true }),
  burst: fc.integer({ min: 1, max: 20 }),
});
const pauses = fc.array(fc.integer({ min: 0, max: 4000 }), { maxLength: 40 });

function sharedBuckets(clock: ReturnType<typeof fakeClock>, kv: KeyValue, offset = () => 0) {
  const now = () => clock.now() + offset();
  return new SharedBuckets({ ...platform, ...clock.platform, now }, kv, 10);
}

/** Buckets on this node, and two nodes on one storage that take turns. */
const KINDS = {
  "on a node"(clock: ReturnType<typeof fakeClock>) {
    const buckets = new NodeBuckets(clock.platform, 10);
    return (rate: FullRate) => buckets.acquire("k", rate);
  },
  "on a storage, for two nodes"(clock: ReturnType<typeof fakeClock>) {
    const { kv } = memoryStorage({ clock });
    const nodes = [sharedBuckets(clock, kv), sharedBuckets(clock, kv)] as const;
    let turn = 0;
    return (rate: FullRate) => nodes[++turn % 2 === 0 ? 0 : 1].acquire("k", rate);
  },
};

describe.each(Object.entries(KINDS))("a bucket %s", (_name, make) => {
  it("never gives more than the burst and what the time allows, and always after the wait that it names", async () => {
    await fc.assert(
      fc.asyncProperty(rates, pauses, async (rate, waits) => {
        const clock = fakeClock(1_700_000_000_000);
        const take = make(clock);
        const started = clock.now();
        let taken = 0;
        let wait = 0;
        for (const pause of waits) {
          await clock.advance(pause);
          for (let tries = 0; tries < 30; tries++) {
            wait = await take(rate);
            if (wait > 0) break;
            taken++;
          }
          const allowed = rate.burst + (clock.now() - started) / rate.intervalMs;
          expect(taken).toBeLessThanOrEqual(allowed + 1e-3);
        }
        await clock.advance(Math.ceil(wait));
        expect(await take(rate)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it("starts full, and is full again after a pause", async () => {
    const clock = fakeClock(1000);
    const take = make(clock);
    const rate = { intervalMs: 100, burst: 2 };
    const three = async () => [await take(rate), await take(rate), await take(rate)];
    expect(await three()).toEqual([0, 0, 100]);
    await clock.advance(60_000);
    expect(await three()).toEqual([0, 0, 100]);
  });
});

describe("buckets on a storage, when the clock of the node is set back", () => {
  it("refuse for one interval at most, not until the clock is where it was", async () => {
    const clock = fakeClock(86_400_000);
    const { kv } = memoryStorage({ clock });
    let offset = 0;
    const buckets = sharedBuckets(clock, kv, () => offset);
    const rate = { intervalMs: 100, burst: 2 };
    expect([await buckets.acquire("k", rate), await buckets.acquire("k", rate)]).toEqual([0, 0]);
    offset = -3_600_000;
    expect(await buckets.acquire("k", rate)).toBe(100);
    await clock.advance(50);
    expect(await buckets.acquire("k", rate)).toBe(50);
    await clock.advance(50);
    expect(await buckets.acquire("k", rate)).toBe(0);
  });
});

describe("buckets on a node", () => {
  it("are bounded, and a flood does not end in a fresh one", () => {
    const clock = fakeClock();
    const buckets = new NodeBuckets(clock.platform, 3);
    const rate = { intervalMs: 1000, burst: 1 };
    expect(buckets.acquire("flood", rate)).toBe(0);
    for (let other = 0; other < 100; other++) {
      expect(buckets.acquire("flood", rate)).toBeGreaterThan(0);
      expect(buckets.acquire(`other ${other}`, rate)).toBe(0);
    }
    expect(buckets.size).toBe(3);
  });
});

describe("buckets on a storage", () => {
  it("take one write for calls that come together, and none for what is refused", async () => {
    const clock = fakeClock(5000);
    const { kv } = memoryStorage({ clock });
    const used = { get: 0, set: 0 };
    const counting: KeyValue = {
      get(key) {
        used.get++;
        return kv.get(key);
      },
      set(...args) {
        used.set++;
        return kv.set(...args);
      },
      delete: (key) => kv.delete(key),
      touch: (key, ttlMs) => kv.touch(key, ttlMs),
    };
    const buckets = sharedBuckets(clock, counting);
    const rate = { intervalMs: 100, burst: 5 };
    const waits = await Promise.all(Array.from({ length: 50 }, () => buckets.acquire("k", rate)));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(5);
    for (let again = 0; again < 100; again++) expect(await buckets.acquire("k", rate)).toBe(100);
    expect(used).toEqual({ get: 1, set: 2 });
  });

  it("do not lock others out for a node whose clock is ahead", async () => {
    const clock = fakeClock(1000);
    const { kv } = memoryStorage({ clock });
    const rate = { intervalMs: 100, burst: 2 };
    const ahead = sharedBuckets(clock, kv, () => 86_400_000);
    expect(await ahead.acquire("k", rate)).toBe(0);
    const other = sharedBuckets(clock, kv);
    expect(await other.acquire("k", rate)).toBe(100);
    await clock.advance(20_000);
    expect(await other.acquire("k", rate)).toBe(0);
  });

  it("refuse for a moment what loses against others again and again, but fail if nobody else writes", async () => {
    const clock = fakeClock(1000);
    const { kv } = memoryStorage({ clock });
    let others = true;
    const losing: KeyValue = {
      get: (key) => kv.get(key),
      delete: (key) => kv.delete(key),
      touch: (key, ttlMs) => kv.touch(key, ttlMs),
      set(key, value, options) {
        if (options?.ifVersion === undefined) return kv.set(key, value, options);
        if (others) kv.set(key, String(clock.now()));
        return undefined;
      },
    };
    const buckets = sharedBuckets(clock, losing);
    const rate = { intervalMs: 10, burst: 5 };
    const crowdedOut = Promise.resolve(buckets.acquire("k", rate));
    await clock.advance(1000);
    expect(await crowdedOut).toBe(100);
    others = false;
    const failed = expect(buckets.acquire("k", rate)).rejects.toThrow("no other node wrote");
    await clock.advance(1000);
    await failed;
  });
});
