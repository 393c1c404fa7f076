import { describe, expect, it } from "vitest";
import { madeChild } from "./made-child.js";
import { statesOf, supervisorFixture } from "./supervisor-fixture.js";

const use = supervisorFixture();
const startsIn = (log: readonly string[]) => log.filter((entry) => !entry.startsWith("-"));

describe("the order", () => {
  it("starts children one after the other and stops them in reverse", async () => {
    const children = ["a", "b", "c"].map((id) => madeChild(id, use.log).spec);
    const made = use.supervisor({ children });
    await made.start();
    expect(made.state).toBe("running");
    await made.close();
    expect(use.log).toEqual(["+a", "+b", "+c", "-c", "-b", "-a"]);
    expect(await made.ended).toEqual({ normal: true, reason: "closed" });
    expect(statesOf(made)).toEqual(["a stopped", "b stopped", "c stopped"]);
  });

  it("starts a child when the one before works, also if that needed several starts", async () => {
    const [a, b] = [madeChild("a", use.log), madeChild("b", use.log)];
    a.failing = 2;
    const made = use.supervisor({ children: [a.spec, b.spec] });
    const started = made.start();
    await use.clock.advance(2_999);
    expect(use.log).toEqual(["!a", "!a"]);
    await use.clock.advance(1);
    await started;
    expect(use.log).toEqual(["!a", "!a", "+a", "+b"]);
  });

  it("waits for no isolated child", async () => {
    const a = madeChild("a", use.log, { retryMs: 1_000, start: () => new Promise<never>(() => {}) });
    const made = use.supervisor({ children: [a.spec, madeChild("b", use.log).spec] });
    await made.start();
    expect(statesOf(made)).toEqual(["a starting", "b running"]);
  });

  it("gives the same promise for a second start, and refuses what could not work", async () => {
    const { made } = await use.three("one_for_one");
    await made.start();
    expect(use.log).toEqual([]);
    const { spec } = madeChild("a", use.log);
    expect(() => use.supervisor({ children: [spec, spec] })).toThrow('already has a child "a"');
    expect(() => use.supervisor({ strategy: "all" as never })).toThrow("`strategy` is all");
    expect(() => use.supervisor({ backOff: { jitter: 2 } })).toThrow("backOff.jitter");
    expect(() => use.supervisor({ children: [{ ...spec, stopMs: -1 }] })).toThrow("stopMs");
    expect(() => use.supervisor({ children: [{ ...spec, restart: "always" as never }] })).toThrow(
      "`restart` of the child",
    );
    expect(() => use.supervisor({ children: [{ ...spec, stopMS: 1 } as never] })).toThrow('did you mean "stopMs"');
  });
});

describe("the strategies", () => {
  it.each([
    ["one_for_one", ["+b"]],
    ["rest_for_one", ["-c", "+b", "+c"]],
    ["one_for_all", ["-c", "-a", "+a", "+b", "+c"]],
  ] as const)("%s restarts whom it names when the second of three ends", async (strategy, after) => {
    const { made, b } = await use.three(strategy);
    b.crash();
    await use.clock.advance(999);
    expect(startsIn(use.log)).toEqual([]);
    await use.clock.advance(1);
    expect(use.log).toEqual(after);
    expect(statesOf(made)).toEqual(["a running", "b running", "c running"]);
  });

  it("apply to a start that fails in the middle of a restart", async () => {
    const { a, b, made } = await use.three("one_for_all");
    b.failing = 1;
    a.crash();
    await use.clock.advance(1_000);
    expect(use.log).toEqual(["-c", "-b", "+a", "!b", "-a"]);
    await use.clock.advance(1_000);
    expect(use.log.slice(5)).toEqual(["+a", "+b", "+c"]);
    expect(made.children().map(({ restarts }) => restarts)).toEqual([2, 2, 1]);
  });

  it("widen a restart when an earlier child ends during it", async () => {
    const { a, b } = await use.three("rest_for_one");
    b.crash();
    await use.clock.advance(500);
    a.crash();
    await use.clock.advance(999);
    expect(startsIn(use.log)).toEqual([]);
    await use.clock.advance(1);
    expect(startsIn(use.log)).toEqual(["+a", "+b", "+c"]);
  });

  it("leave alone what was stopped on purpose, and drop temporary children", async () => {
    const { made, a } = await use.three("one_for_all");
    await made.startChild(madeChild("t", use.log, { restart: "temporary" }).spec);
    await made.stopChild("b");
    a.crash();
    await use.clock.advance(1_000);
    expect(use.log).toEqual(["+t", "-b", "-t", "-c", "+a", "+c"]);
    expect(statesOf(made)).toEqual(["a running", "b stopped", "c running"]);
  });
});

describe("the restart policies", () => {
  it.each([
    ["permanent", "done", "a running"],
    ["permanent", "boom", "a running"],
    ["transient", "done", "a ended"],
    ["transient", "boom", "a running"],
  ] as const)("%s, %s: %s", async (restart, how, after) => {
    const a = madeChild("a", use.log, { restart });
    const made = use.supervisor({ children: [a.spec] });
    await made.start();
    if (how === "done") a.finish();
    else a.crash();
    await use.clock.advance(1_000);
    expect(statesOf(made)).toEqual([after]);
    expect(made.children()[0]?.reason).toBe(how);
  });

  it.each(["done", "boom"])("temporary, %s: forgotten", async (how) => {
    const a = madeChild("a", use.log, { restart: "temporary" });
    const made = use.supervisor({ children: [a.spec] });
    await made.start();
    if (how === "done") a.finish();
    else a.crash();
    await use.clock.advance(100_000);
    expect(made.children()).toEqual([]);
    expect(made.state).toBe("running");
  });

  it("start again what has ended when asked", async () => {
    const a = madeChild("a", use.log, { restart: "transient" });
    const made = use.supervisor({ children: [a.spec] });
    await made.start();
    a.finish();
    await use.clock.advance(0);
    expect(await made.restartChild("a")).toBe(a.latest);
    expect(statesOf(made)).toEqual(["a running"]);
  });
});

describe("the back-off", () => {
  it("doubles from 1 s to 30 s, and begins anew after an instance that ran for 30 s", async () => {
    const a = madeChild("a", use.log);
    const made = use.supervisor({ children: [a.spec], intensity: { restarts: 100 } });
    await made.start();
    const delayAfter = async (ranMs: number) => {
      await use.clock.advance(ranMs);
      const before = use.log.length;
      a.crash();
      let waited = 0;
      for (; use.log.length === before && waited < 60; waited++) await use.clock.advance(1_000);
      return waited;
    };
    const delays: number[] = [];
    for (let round = 0; round < 7; round++) delays.push(await delayAfter(0));
    expect(delays).toEqual([1, 2, 4, 8, 16, 30, 30]);
    expect(await delayAfter(29_999)).toBe(30);
    expect(await delayAfter(30_000)).toBe(1);
  });

  it.each([
    [0, 800],
    [255, 1_200],
  ])("is up to 20 %% shorter or longer: random bytes of %i give %i ms", async (byte, ms) => {
    const a = madeChild("a", use.log);
    const randomBytes = (count: number) => new Uint8Array(count).fill(byte);
    const platform = { ...use.clock.platform, randomBytes };
    const made = use.supervisor({ children: [a.spec], backOff: {}, platform });
    await made.start();
    a.crash();
    await use.clock.advance(ms - 1);
    expect(statesOf(made)).toEqual(["a waiting"]);
    await use.clock.advance(1);
    expect(statesOf(made)).toEqual(["a running"]);
  });
});
