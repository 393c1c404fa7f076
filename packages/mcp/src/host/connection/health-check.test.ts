import { describe, expect, it } from "vitest";
import { McpError } from "../../protocol/error.js";
import { fakeClock } from "../../testing/fake-clock.js";
import { HealthCheck, type HealthOptions } from "./health-check.js";

function checked(answer: (signal: AbortSignal) => Promise<void>, options?: HealthOptions) {
  const clock = fakeClock();
  const pings: number[] = [];
  const reasons: McpError[] = [];
  const warnings: string[] = [];
  const ping = (signal: AbortSignal) => {
    pings.push(clock.now());
    return answer(signal);
  };
  const platform = { ...clock.platform, warn: (text: string) => void warnings.push(text) };
  const unhealthy = (reason: McpError) => void reasons.push(reason);
  const traffic = { answeredAt: 0 };
  const health = new HealthCheck({ platform, server: "files", traffic, ping, unhealthy }, options);
  const answered = () => {
    traffic.answeredAt = platform.monotonic();
  };
  return { clock, pings, reasons, warnings, health, answered };
}

const later = (clock: { platform: { timer(ms: number, run: () => void): unknown } }, ms: number) =>
  new Promise<void>((resolve) => void clock.platform.timer(ms, resolve));
const never = () => new Promise<void>(() => {});

describe("a health check", () => {
  it("pings after each interval without an answer, and records the latency", async () => {
    const parts: ReturnType<typeof checked> = checked(() => later(parts.clock, 40));
    const { clock, pings, health, reasons } = parts;
    health.start();
    await clock.advance(29_999);
    expect(pings).toEqual([]);
    await clock.advance(30_081);
    expect(pings).toEqual([30_000, 60_040]);
    expect(health.latencyMs).toBe(40);
    expect(reasons).toEqual([]);
    health.stop();
    expect(clock.pending).toBe(0);
  });

  it("sends no ping while calls are answered", async () => {
    const { clock, pings, health, answered } = checked(never);
    health.start();
    for (let count = 0; count < 10; count++) {
      await clock.advance(20_000);
      answered();
    }
    expect(pings).toEqual([]);
    await clock.advance(30_000);
    expect(pings).toEqual([230_000]);
    health.stop();
  });

  it("reports a silent server once, after three pings, and leaves it alone until it is started again", async () => {
    const { clock, pings, health, reasons } = checked(never, { intervalMs: 1000, deadlineMs: 100 });
    health.start();
    await clock.advance(60_000);
    expect(pings).toEqual([1000, 2100, 3200]);
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toMatchObject({ kind: "timeout", data: { server: "files", failures: 3 } });
    expect(reasons[0]?.message).toContain('"files" did not answer 3 pings in a row');
    expect(clock.pending).toBe(0);
    health.start();
    await clock.advance(3300);
    expect(reasons).toHaveLength(2);
  });

  it("may be started by the one it reports to", async () => {
    const clock = fakeClock();
    let reports = 0;
    const platform = { ...clock.platform, warn: () => {} };
    const unhealthy = () => {
      reports++;
      health.start();
    };
    const options = { intervalMs: 1000, deadlineMs: 100, failures: 1 };
    const health = new HealthCheck(
      { platform, server: "files", traffic: { answeredAt: 0 }, ping: never, unhealthy },
      options,
    );
    health.start();
    await clock.advance(3300);
    expect(reports).toBe(3);
    expect(clock.pending).toBe(1);
    health.stop();
  });

  it("begins to count anew after an answer of any kind", async () => {
    let count = 0;
    const lost = new McpError("connection_closed", "gone");
    const refused = new McpError("method_not_found", "no ping here", { remote: true });
    const { clock, health, reasons } = checked(() => Promise.reject(++count % 3 === 0 ? refused : lost));
    health.start();
    await clock.advance(600_000);
    expect(count).toBeGreaterThan(10);
    expect(reasons).toEqual([]);
    health.stop();
  });

  it("does not hold a ping against a server that answered a call meanwhile", async () => {
    const { clock, health, reasons, answered } = checked(never, { intervalMs: 1000, deadlineMs: 500, failures: 1 });
    health.start();
    await clock.advance(1200);
    answered();
    await clock.advance(1000);
    expect(reasons).toEqual([]);
    await clock.advance(5000);
    expect(reasons).toHaveLength(1);
  });

  it("aborts a ping that is late, and one that is under way when it stops", async () => {
    const signals: AbortSignal[] = [];
    const { clock, health, reasons } = checked(
      (signal) => {
        signals.push(signal);
        return never();
      },
      { intervalMs: 1000, deadlineMs: 100 },
    );
    health.start();
    await clock.advance(1100);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await clock.advance(1000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    health.stop();
    expect(signals[1]?.aborted).toBe(true);
    expect(clock.pending).toBe(0);
    await clock.advance(60_000);
    expect(reasons).toEqual([]);
  });

  it("counts a ping that throws as failed, and survives a report that throws", async () => {
    const clock = fakeClock();
    const warnings: string[] = [];
    const platform = { ...clock.platform, warn: (text: string) => void warnings.push(text) };
    const oops = (): never => {
      throw new Error("oops");
    };
    const health = new HealthCheck(
      { platform, server: "files", traffic: { answeredAt: 0 }, ping: oops, unhealthy: oops },
      { failures: 1 },
    );
    health.start();
    await clock.advance(30_000);
    expect(warnings).toEqual(["`unhealthy` failed: oops"]);
  });

  it("refuses options that are no numbers", () => {
    expect(() => checked(never, { intervalMs: 0 })).toThrow("`intervalMs` is 0");
  });
});
