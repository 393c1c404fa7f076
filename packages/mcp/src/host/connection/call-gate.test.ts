import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { McpError } from "../../protocol/error.js";
import { fakeClock } from "../../testing/fake-clock.js";
import { CallGate, type CallLimits } from "./call-gate.js";

function gateOf(limits: CallLimits) {
  const clock = fakeClock();
  return { clock, gate: new CallGate({ platform: clock.platform, server: "files" }, limits) };
}

/** What `enter` threw. */
function refusalOf(enter: () => unknown): McpError {
  try {
    enter();
  } catch (error) {
    return error as McpError;
  }
  throw new Error("the call was not refused");
}

describe("a call gate", () => {
  it("lets calls begin at once up to the limit, and the others in order", async () => {
    const { gate } = gateOf({ concurrency: 2 });
    const order: number[] = [];
    expect([gate.enter(), gate.enter()]).toEqual([undefined, undefined]);
    const waiting = [1, 2, 3].map((one) => gate.enter()?.then(() => order.push(one)));
    expect(gate.counts).toEqual({ running: 2, waiting: 3, refused: 0 });
    for (let count = 0; count < 3; count++) gate.leave();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
    expect(gate.counts).toEqual({ running: 2, waiting: 0, refused: 0 });
  });

  it("has no limit but the queue's unless it is given one", () => {
    const { gate } = gateOf({});
    for (let count = 0; count < 10_000; count++) expect(gate.enter()).toBeUndefined();
  });

  it("refuses what finds the queue full, and says what to change", () => {
    const { gate } = gateOf({ concurrency: 3, queue: 1 });
    for (let count = 0; count < 3; count++) gate.enter();
    void gate.enter();
    const refusal = refusalOf(() => gate.enter());
    expect(refusal.kind).toBe("limit_exceeded");
    expect(refusal.message).toBe('too many calls: the server "files" runs 3 calls at once, and 1 is waiting');
    expect(refusal.data).toEqual({ limit: "concurrency", server: "files", value: 3, queue: 1, retryAfterMs: 1000 });
    expect(refusal.fix).toContain("raise `concurrency` or `queue`");
    expect(gate.counts.refused).toBe(1);
  });

  it("names the time between two ends as the time to wait", async () => {
    const { gate, clock } = gateOf({ concurrency: 1, queue: 3 });
    for (let count = 0; count < 4; count++) void gate.enter();
    await clock.advance(5000);
    gate.leave();
    await clock.advance(200);
    gate.leave();
    void gate.enter();
    void gate.enter();
    expect(refusalOf(() => gate.enter()).data).toMatchObject({ retryAfterMs: 200 });
  });

  it("lets calls wait for the rate, and refuses by its name", async () => {
    const { gate, clock } = gateOf({ rate: { perSecond: 10, burst: 1 }, queue: 2 });
    const begun: number[] = [];
    expect(gate.enter()).toBeUndefined();
    for (let count = 0; count < 2; count++) void gate.enter()?.then(() => begun.push(clock.now()));
    const refusal = refusalOf(() => gate.enter());
    expect(refusal.data).toEqual({ limit: "rate", server: "files", value: 10, queue: 2, retryAfterMs: 100 });
    await clock.advance(1000);
    expect(begun).toEqual([100, 200]);
    expect(clock.pending).toBe(0);
  });

  it("lets callers take turns, however many calls one of them has", async () => {
    const { gate } = gateOf({ concurrency: 1 });
    const order: string[] = [];
    gate.enter();
    const add = (key: string) => void gate.enter(undefined, key)?.then(() => order.push(key));
    for (let count = 0; count < 5; count++) add("many");
    add("one");
    add("two");
    for (let count = 0; count < 7; count++) gate.leave();
    await Promise.resolve();
    expect(order.slice(0, 3)).toEqual(["many", "one", "two"]);
    expect(order).toHaveLength(7);
  });

  it("takes a place in a full queue from the caller that has the most", async () => {
    const { gate } = gateOf({ concurrency: 1, queue: 3 });
    gate.enter();
    const many = [1, 2, 3].map(() => gate.enter(undefined, "many"));
    const outcomes = Promise.allSettled(many);
    const one = gate.enter(undefined, "one");
    expect(() => gate.enter(undefined, "one")).toThrow("too many calls");
    for (let count = 0; count < 3; count++) gate.leave();
    await one;
    expect((await outcomes).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(gate.counts).toEqual({ running: 1, waiting: 0, refused: 2 });
  });

  it("ends a wait at once when its signal aborts, and leaves no timer", async () => {
    const { gate, clock } = gateOf({ rate: { perSecond: 1, burst: 1 } });
    gate.enter();
    const stop = new AbortController();
    const waiting = gate.enter(stop.signal);
    expect(clock.pending).toBe(1);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toMatchObject({ kind: "cancelled", cause: stop.signal.reason });
    expect(clock.pending).toBe(0);
    expect(gate.counts).toEqual({ running: 1, waiting: 0, refused: 0 });
    expect(refusalOf(() => gate.enter(stop.signal)).kind).toBe("cancelled");
  });

  it("drains: takes nothing new, and lets what waits run", async () => {
    const { gate } = gateOf({ concurrency: 1 });
    gate.enter();
    const waiting = gate.enter();
    let drained = false;
    const draining = gate.drain().then(() => {
      drained = true;
    });
    expect(refusalOf(() => gate.enter()).kind).toBe("connection_closed");
    gate.leave();
    await waiting;
    expect(drained).toBe(false);
    gate.leave();
    await draining;
    await gate.drain();
  });

  it("closes: refuses what waits, and a drain waits for what runs", async () => {
    const { gate, clock } = gateOf({ concurrency: 1, rate: { perSecond: 1, burst: 1 } });
    gate.enter();
    const waiting = gate.enter();
    const draining = gate.drain();
    gate.close();
    await expect(waiting).rejects.toMatchObject({ kind: "connection_closed" });
    expect(clock.pending).toBe(0);
    gate.leave();
    await draining;
  });

  it.each([{ concurrency: 0 }, { queue: -1 }, { concurrency: 1.5 }, { rate: { perSecond: 0 } }])(
    "refuses the options %o",
    (limits) => {
      expect(() => gateOf(limits)).toThrow("` is ");
    },
  );
});

describe("a call gate under any sequence of calls", () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant("enter" as const), key: fc.constantFrom("a", "b", "c") }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("leave" as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("abort" as const), which: fc.nat(50) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(500) }) },
  );
  const limits = fc.record({
    concurrency: fc.integer({ min: 1, max: 4 }),
    queue: fc.integer({ min: 0, max: 6 }),
    rate: fc.option(fc.record({ perSecond: fc.integer({ min: 1, max: 20 }), burst: fc.integer({ min: 1, max: 3 }) }), {
      nil: undefined,
    }),
  });

  it("runs at most so many, settles each wait once, and lets everybody through in the end", async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { maxLength: 100 }), async (chosen, steps) => {
        const { gate, clock } = gateOf(chosen);
        const calls: { stop: AbortController; outcomes: string[]; aborted?: true }[] = [];
        let running = 0;
        const begin = (outcomes: string[]) => {
          outcomes.push("begun");
          running++;
          expect(running).toBeLessThanOrEqual(chosen.concurrency);
        };
        const leave = () => {
          running--;
          gate.leave();
        };
        const enter = (key: string) => {
          const call = { stop: new AbortController(), outcomes: [] as string[] };
          calls.push(call);
          try {
            const turn = gate.enter(call.stop.signal, key);
            if (turn === undefined) begin(call.outcomes);
            else void turn.then(() => begin(call.outcomes)).catch((error) => call.outcomes.push(error.kind));
          } catch (error) {
            call.outcomes.push((error as McpError).kind);
          }
        };
        for (const one of steps) {
          if (one.do === "enter") enter(one.key);
          else if (one.do === "leave" && running > 0) leave();
          else if (one.do === "abort") calls[one.which]?.stop.abort();
          else if (one.do === "wait") await clock.advance(one.ms);
          await clock.advance(0);
          expect(gate.counts.running).toBe(running);
          expect(gate.counts.waiting).toBeLessThanOrEqual(chosen.queue);
          expect(gate.counts.waiting).toBe(calls.filter(({ outcomes }) => outcomes.length === 0).length);
        }
        for (let round = 0; round < 200 && gate.counts.running + gate.counts.waiting > 0; round++) {
          if (running > 0) leave();
          await clock.advance(1000);
        }
        expect(gate.counts).toMatchObject({ running: 0, waiting: 0 });
        for (const { outcomes } of calls) expect(outcomes).toHaveLength(1);
        expect(calls.filter(({ outcomes }) => outcomes[0] === "limit_exceeded")).toHaveLength(gate.counts.refused);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  it("lets a caller begin after at most one call of each other caller", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 40 }), async (keys) => {
        const { gate } = gateOf({ concurrency: 1 });
        gate.enter();
        const begun: string[] = [];
        for (const key of keys) void gate.enter(undefined, key)?.then(() => begun.push(key));
        for (const _key of keys) {
          gate.leave();
          await Promise.resolve();
        }
        for (const key of new Set(keys)) {
          const turns = begun.flatMap((one, at) => (one === key ? [at] : []));
          for (const [index, at] of turns.entries()) {
            const between = begun.slice(index === 0 ? 0 : (turns[index - 1] ?? 0) + 1, at);
            expect(new Set(between).size).toBe(between.length);
          }
        }
      }),
    );
  });

  it("lets one call begin at once where the rate is below one a second", async () => {
    const { gate, clock } = gateOf({ rate: { perSecond: 0.1 } });
    expect(gate.enter()).toBeUndefined();
    const second = gate.enter();
    await clock.advance(9_999);
    expect(gate.counts).toEqual({ running: 1, waiting: 1, refused: 0 });
    await clock.advance(1);
    await second;
    expect(gate.counts).toEqual({ running: 2, waiting: 0, refused: 0 });
  });

  it.each([{ perSecond: 0 }, { perSecond: Number.POSITIVE_INFINITY }, { perSecond: 1, burst: 0 }])(
    "refuses the rate %o",
    (rate) => {
      expect(() => gateOf({ rate })).toThrow(/`(perSecond|burst)` is/);
    },
  );
});
