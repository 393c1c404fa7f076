import { describe, expect, it } from "vitest";
import { virtualTime } from "../../test/http-client/virtual-time.js";
import { clampRetry, ReconnectPacer } from "./reconnect.js";

describe("the pace of reconnecting", () => {
  it.each([
    [-1, 500],
    [0, 500],
    [1, 500],
    [499, 500],
    [500, 500],
    [3_000, 3_000],
    [300_000, 300_000],
    [1e12, 1e12],
  ])("clamps a server's `retry: %d` to %d", (asked, expected) => {
    expect(clampRetry(asked)).toBe(expected);
  });

  it("doubles the longest wait from 1 s to 30 s, and never waits less than 500 ms", () => {
    const waits = (random: number) => {
      const pacer = new ReconnectPacer(virtualTime(random).platform, 100);
      return Array.from({ length: 7 }, () => pacer.ended(false));
    };
    expect(waits(1)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(waits(0)).toEqual(new Array(7).fill(500));
  });

  it("takes the server's `retry` as the wait after a clean end, and as the least one after a failure", () => {
    const pacer = new ReconnectPacer(virtualTime(1).platform, 100);
    pacer.retry(5_000);
    expect(pacer.ended(true)).toBe(5_000);
    expect([1, 2, 3, 4].map(() => pacer.ended(false))).toEqual([5_000, 5_000, 8_000, 16_000]);
  });

  it("never allows more than 8 attempts in any minute, whatever the waits are", () => {
    const time = virtualTime(0);
    const pacer = new ReconnectPacer(time.platform, Number.POSITIVE_INFINITY);
    const starts: number[] = [];
    for (let attempt = 0; attempt < 100; attempt++) {
      pacer.begun();
      starts.push(time.now());
      time.platform.timer(pacer.ended(true) ?? 0, () => {});
      time.next();
    }
    for (const start of starts) {
      expect(starts.filter((other) => other >= start && other < start + 60_000).length).toBeLessThanOrEqual(8);
    }
  });

  it("resets the count after an event or after 30 s, and not after less", () => {
    const time = virtualTime(1);
    const pacer = new ReconnectPacer(time.platform, 2);
    const stand = (ms: number) => {
      pacer.opened();
      time.platform.timer(ms, () => {});
      time.next();
      return pacer.ended(true);
    };
    expect([stand(29_999), stand(29_999), stand(29_999)]).toEqual([1_000, 2_000, undefined]);
    expect([stand(30_000), stand(0)]).toEqual([1_000, 2_000]);
    pacer.progressed();
    expect(pacer.ended(true)).toBe(1_000);
  });
});
