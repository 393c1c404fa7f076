import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fakeClock } from "../../testing/fake-clock.js";
import { RateLimit } from "./rate-limit.js";

describe("a rate limit", () => {
  it("starts full, gains tokens with time, and holds no more than a burst", async () => {
    const clock = fakeClock();
    const rate = new RateLimit(clock.platform, { perSecond: 10, burst: 2 });
    expect([rate.take(), rate.take(), rate.take()]).toEqual([true, true, false]);
    expect(rate.waitMs).toBe(100);
    await clock.advance(100);
    expect([rate.take(), rate.take()]).toEqual([true, false]);
    await clock.advance(60_000);
    expect([rate.take(), rate.take(), rate.take()]).toEqual([true, true, false]);
  });

  it("allows one call at once where the rate is below one a second", async () => {
    const clock = fakeClock();
    const rate = new RateLimit(clock.platform, { perSecond: 0.1 });
    expect([rate.take(), rate.take(), rate.waitMs]).toEqual([true, false, 10_000]);
  });

  it.each([{ perSecond: 0 }, { perSecond: Number.POSITIVE_INFINITY }, { perSecond: 1, burst: 0 }])(
    "refuses the options %o",
    (options) => {
      expect(() => new RateLimit(fakeClock().platform, options)).toThrow("`rate.");
    },
  );

  it("never gives more than the burst and what the time allows, and always after the wait that it names", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0.01, max: 500, noNaN: true }),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 }),
        async (perSecond, burst, pauses) => {
          const clock = fakeClock();
          const rate = new RateLimit(clock.platform, { perSecond, burst });
          let taken = 0;
          for (const pause of pauses) {
            await clock.advance(pause);
            while (taken < 10_000 && rate.take()) taken++;
            expect(taken).toBeLessThanOrEqual(burst + (clock.now() * perSecond) / 1000 + 1e-6);
          }
          await clock.advance(rate.waitMs);
          expect(rate.take()).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });
});
