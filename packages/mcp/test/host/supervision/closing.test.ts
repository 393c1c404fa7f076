import type { SupervisionEvent } from "@parley/mcp/supervision";
import { describe, expect, it } from "vitest";
import { madeChild } from "./made-child.js";
import { statesOf, supervisorFixture } from "./supervisor-fixture.js";

const use = supervisorFixture();
const never = () => new Promise<never>(() => {});

/** A start that ends when the test says so. */
function held<T>() {
  let give: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    give = resolve;
  });
  return { promise, give };
}

describe("closing", () => {
  it("during a start aborts it, and ends the instance that comes nevertheless", async () => {
    const late = held<{ close(): void }>();
    let signal: AbortSignal | undefined;
    let closed = 0;
    const start = (given: AbortSignal) => {
      signal = given;
      return late.promise;
    };
    const made = use.supervisor({ children: [{ id: "a", start }, madeChild("b", use.log).spec] });
    const started = made.start();
    await use.clock.advance(0);
    const closing = made.close();
    expect(signal?.aborted).toBe(true);
    expect(made.state).toBe("stopping");
    late.give({ close: () => void closed++ });
    await closing;
    expect(closed).toBe(1);
    expect(made.state).toBe("ended");
    expect(use.log).toEqual([]);
    await expect(started).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("during a start that ignores its signal takes `stopMs`, and ends what comes later", async () => {
    const late = held<{ close(): void }>();
    let closed = 0;
    const events: SupervisionEvent[] = [];
    const made = use.supervisor({ children: [{ id: "a", start: () => late.promise, stopMs: 700 }] });
    made.on("left_behind", (event) => events.push(event));
    void made.start();
    await use.clock.advance(0);
    const closing = made.close();
    await use.clock.advance(699);
    expect(made.state).toBe("stopping");
    await use.clock.advance(1);
    await closing;
    expect(events).toMatchObject([{ child: "a", what: "start", afterMs: 700 }]);
    late.give({ close: () => void closed++ });
    await use.clock.advance(0);
    expect(closed).toBe(1);
    expect(statesOf(made)).toEqual(["a stopped"]);
  });

  it.each(["one_for_one", "one_for_all"] as const)(
    "during a back-off starts no more children: %s",
    async (strategy) => {
      const { made, b } = await use.three(strategy);
      b.crash();
      await use.clock.advance(500);
      await made.close();
      await use.clock.advance(100_000);
      expect(use.log.filter((entry) => entry.startsWith("+"))).toEqual([]);
      expect(statesOf(made)).toEqual(["a stopped", "b stopped", "c stopped"]);
    },
  );

  it("in the middle of a restart of all gives it up", async () => {
    const { made, a, b } = await use.three("one_for_all");
    const slow = held<never>();
    b.spec.start = () => slow.promise;
    a.crash();
    await use.clock.advance(1_000);
    expect(statesOf(made)).toEqual(["a running", "b starting", "c waiting"]);
    const closing = made.close();
    await use.clock.advance(5_000);
    await closing;
    expect(use.log).toEqual(["-c", "-b", "+a", "-a"]);
  });

  it("leaves a stop that hangs after `stopMs`, in its turn", async () => {
    const { made } = await use.three("one_for_one", { stop: never, stopMs: 100 });
    const closing = made.close();
    await use.clock.advance(299);
    expect(statesOf(made)).toEqual(["a stopping", "b stopped", "c stopped"]);
    await use.clock.advance(1);
    await closing;
    expect(made.state).toBe("ended");
  });

  it("ends isolated neighbours together", async () => {
    const { made } = await use.three("one_for_one", { stop: never, stopMs: 100, retryMs: 1_000 });
    const closing = made.close();
    await use.clock.advance(100);
    await closing;
    expect(made.state).toBe("ended");
  });

  it("is the same twice, also before a start, and everything is refused after it", async () => {
    const { spec } = madeChild("a", use.log);
    const made = use.supervisor({ children: [spec] });
    await Promise.all([made.close(), made.close()]);
    await expect(made.start()).rejects.toMatchObject({ kind: "cancelled" });
    await expect(made.startChild(madeChild("b", use.log).spec)).rejects.toThrow("starts no more children");
    await expect(made.restartChild("a")).rejects.toThrow("starts no more children");
    expect(use.log).toEqual([]);
  });

  it("is what disposing does", async () => {
    const { made } = await use.three("one_for_one");
    await made[Symbol.asyncDispose]();
    expect(made.state).toBe("ended");
  });
});

describe("a start", () => {
  it("that takes too long is aborted and counts as a failure", async () => {
    const signals: AbortSignal[] = [];
    const start = (signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signals.push(signal);
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    const made = use.supervisor();
    await made.start();
    const first = made.startChild({ id: "a", start, startMs: 2_000 });
    await use.clock.advance(2_000);
    await expect(first).rejects.toMatchObject({ kind: "timeout" });
    expect(statesOf(made)).toEqual(["a waiting"]);
    await use.clock.advance(1_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it("is not repeated before the one that took too long has ended, or `stopMs` have passed", async () => {
    const lates = [held<{ close(): void }>(), held<{ close(): void }>()];
    let starts = 0;
    let closed = 0;
    const made = use.supervisor();
    await made.start();
    const start = () => lates[starts++]?.promise ?? never();
    void made.startChild({ id: "a", start, startMs: 1_000, stopMs: 5_000 });
    await use.clock.advance(3_000);
    expect(statesOf(made)).toEqual(["a starting"]);
    lates[0]?.give({ close: () => void closed++ });
    await use.clock.advance(0);
    expect([closed, ...statesOf(made)]).toEqual([1, "a waiting"]);
    await use.clock.advance(1_000 + 1_000 + 4_999);
    expect([starts, ...statesOf(made)]).toEqual([2, "a starting"]);
    await use.clock.advance(1);
    expect(statesOf(made)).toEqual(["a waiting"]);
  });

  it("is refused when too many earlier ones have never ended", async () => {
    let starts = 0;
    const start = () => {
      starts++;
      return never();
    };
    const made = use.supervisor({ intensity: { restarts: 1_000 } });
    await made.start();
    void made.startChild({ id: "a", start, startMs: 10, stopMs: 10 });
    await use.clock.advance(1_000_000);
    expect(starts).toBe(8);
    expect(made.children()[0]?.reason).toContain("8 earlier starts and stops");
  });

  it("waits for the end of what is left of the instance before", async () => {
    const cleaned = held<void>();
    const a = madeChild("a", use.log, { stop: () => cleaned.promise, stopMs: 3_000 });
    const made = use.supervisor({ children: [a.spec] });
    await made.start();
    a.crash();
    await use.clock.advance(2_000);
    expect(use.log).toEqual(["+a"]);
    cleaned.give();
    await use.clock.advance(0);
    expect(use.log).toEqual(["+a", "+a"]);
  });
});
