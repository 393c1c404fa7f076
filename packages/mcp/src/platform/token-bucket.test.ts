import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { acquireToken, TokenBucket } from "./token-bucket.js";

describe("TokenBucket", () => {
  it("starts full, gains tokens at its rate, and holds no more than its burst", () => {
    let now = 5_000;
    const bucket = new TokenBucket({ monotonic: () => now }, { intervalMs: 100, burst: 2 });
    expect([bucket.acquire(), bucket.acquire(), bucket.acquire(), bucket.waitMs]).toEqual([0, 0, 100, 100]);
    now += 100;
    expect([bucket.waitMs, bucket.acquire(), bucket.acquire()]).toEqual([0, 0, 100]);
    now += 1_000_000;
    expect([bucket.acquire(), bucket.acquire(), bucket.acquire()]).toEqual([0, 0, 100]);
  });

  it("has a token for a caller that waited as long as it was told, whatever the fractions", () => {
    for (const perSecond of [0.1, 0.3, 3, 7, 333]) {
      let now = 0.1;
      const bucket = new TokenBucket({ monotonic: () => now }, { intervalMs: 1000 / perSecond, burst: 1 });
      for (let calls = 0; calls < 100; calls++) {
        now += bucket.waitMs;
        expect(bucket.acquire()).toBe(0);
      }
    }
  });

  it("locks nobody out after a clock was set back", () => {
    expect(acquireToken(1e12, 0, { intervalMs: 10, burst: 3 }).waitMs).toBe(10);
  });

  it("never gives more than the burst and what the time allows, and always after the wait that it names", () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 });
    const rates = fc.double({ min: 0.01, max: 500, noNaN: true });
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 20 }), pauses, (perSecond, burst, passing) => {
        let now = 0;
        const bucket = new TokenBucket({ monotonic: () => now }, { intervalMs: 1000 / perSecond, burst });
        let taken = 0;
        for (const ms of passing) {
          now += ms;
          while (taken < 10_000 && bucket.acquire() === 0) taken++;
          expect(taken).toBeLessThanOrEqual(burst + (now * perSecond) / 1000 + 1e-6);
        }
        now += Math.ceil(bucket.waitMs);
        expect(bucket.acquire()).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});
