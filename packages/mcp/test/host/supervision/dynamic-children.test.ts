import type { SupervisionEvent } from "@parley/mcp/supervision";
import { describe, expect, it } from "vitest";
import { madeChild } from "./made-child.js";
import { statesOf, supervisorFixture } from "./supervisor-fixture.js";

const use = supervisorFixture();

describe("dynamic children", () => {
  it("are 100, of which 10 end: exactly those are started again", async () => {
    const made = use.supervisor({ intensity: { restarts: 10 } });
    await made.start();
    const children = Array.from({ length: 100 }, (_, at) => madeChild(`c${at}`, use.log));
    await Promise.all(children.map(({ spec }) => made.startChild(spec)));
    const ending = children.filter((_, at) => at % 10 === 3);
    for (const child of ending) child.crash();
    await use.clock.advance(1_000);
    expect(children.map(({ latest }) => latest.number)).toEqual(children.map((one) => (ending.includes(one) ? 2 : 1)));
    expect(children.every(({ living }) => living.size === 1)).toBe(true);
    expect(made.children().filter(({ restarts }) => restarts === 1)).toHaveLength(10);
    await made.close();
    expect(children.every(({ living }) => living.size === 0)).toBe(true);
  });

  it("give their instance, or what made the first start fail, and are supervised either way", async () => {
    const made = use.supervisor();
    await made.start();
    const [a, b] = [madeChild("a", use.log), madeChild("b", use.log)];
    b.failing = 1;
    expect(await made.startChild(a.spec)).toBe(a.latest);
    expect(made.child("a")).toBe(a.latest);
    await expect(made.startChild(b.spec)).rejects.toThrow("no start of b");
    expect(made.child("b")).toBeUndefined();
    await use.clock.advance(1_000);
    expect(made.child("b")).toBe(b.latest);
  });

  it("are only added before the start, and started with the others", async () => {
    const made = use.supervisor({ children: [madeChild("a", use.log).spec] });
    const b = madeChild("b", use.log);
    const given = made.startChild(b.spec);
    expect(use.log).toEqual([]);
    await expect(made.restartChild("a")).rejects.toThrow("was not started");
    await made.start();
    expect(await given).toBe(b.latest);
    expect(use.log).toEqual(["+a", "+b"]);
  });

  it("are stopped, kept, restarted and removed by their id", async () => {
    const { made, b } = await use.three("one_for_all");
    await made.stopChild("b");
    await made.stopChild("b");
    expect(statesOf(made)).toEqual(["a running", "b stopped", "c running"]);
    expect(await made.restartChild("b")).toBe(b.latest);
    expect(b.latest.number).toBe(2);
    await made.restartChild("b");
    await made.removeChild("b");
    expect(statesOf(made)).toEqual(["a running", "c running"]);
    expect(use.log).toEqual(["-b", "+b", "-b", "+b", "-b"]);
    await expect(made.stopChild("b")).rejects.toMatchObject({ kind: "misuse" });
    await expect(made.removeChild("bb")).rejects.toThrow('no child "bb"');
  });

  it("obey the last of several wishes", async () => {
    const slow = () => new Promise<void>((resolve) => use.clock.platform.timer(100, resolve));
    const { made, a, b, c } = await use.three("one_for_one", { stop: slow });
    const wishes = [
      made.restartChild("a"),
      made.removeChild("a"),
      made.restartChild("b"),
      made.stopChild("b"),
      made.stopChild("c"),
      made.restartChild("c"),
    ];
    const leaving = made.restartChild("a");
    const settled = Promise.allSettled([...wishes, leaving]);
    await use.clock.advance(100);
    const outcomes = (await settled).map(({ status }) => status);
    expect(outcomes).toEqual(["rejected", "fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled", "rejected"]);
    expect(statesOf(made)).toEqual(["b stopped", "c running"]);
    expect([a, b, c].map(({ latest }) => latest.number)).toEqual([1, 1, 2]);
  });

  it("are restarted at once, without the rest of their back-off", async () => {
    const { made, a } = await use.three("one_for_one");
    a.crash();
    await use.clock.advance(10);
    await made.restartChild("a");
    await use.clock.advance(100_000);
    expect(use.log).toEqual(["+a"]);
  });

  it("wait for a restart of the group that is under way", async () => {
    const { made, a } = await use.three("one_for_all");
    await made.stopChild("c");
    a.crash();
    await use.clock.advance(10);
    const restarted = made.restartChild("c");
    const added = made.startChild(madeChild("d", use.log).spec);
    await use.clock.advance(10);
    expect(use.log).toEqual(["-c", "-b"]);
    await use.clock.advance(980);
    await Promise.all([restarted, added]);
    expect(use.log).toEqual(["-c", "-b", "+a", "+b", "+d", "+c"]);
  });

  it("can be restarted while the supervisor starts, in the middle of their own start", async () => {
    const gone = () => new Promise<never>((_resolve, reject) => fail.push(reject));
    const fail: ((error: Error) => void)[] = [];
    const a = madeChild("a", use.log);
    const { start } = a.spec;
    a.spec.start = gone;
    const made = use.supervisor({ children: [a.spec, madeChild("b", use.log).spec] });
    const started = made.start();
    await use.clock.advance(0);
    a.spec.start = start;
    const restarted = made.restartChild("a");
    fail[0]?.(new Error("aborted"));
    expect(await restarted).toBe(a.latest);
    await started;
    expect(statesOf(made)).toEqual(["a running", "b running"]);
  });

  it("are at most `maxChildren`", async () => {
    const made = use.supervisor({ maxChildren: 1 });
    await made.start();
    await made.startChild(madeChild("a", use.log).spec);
    await expect(made.startChild(madeChild("b", use.log).spec)).rejects.toMatchObject({ kind: "limit_exceeded" });
  });
});

describe("events", () => {
  it("tell of every step, with its place, its reason and its time", async () => {
    const events: SupervisionEvent[] = [];
    const a = madeChild("a", use.log);
    const made = use.supervisor({ children: [a.spec], onEvent: (event) => events.push(event) });
    await made.start();
    a.crash("no more");
    await use.clock.advance(1_000);
    await made.close();
    const lines = events.map((event) =>
      event.type === "left_behind" ? event.type : `${event.at} ${event.type} ${event.from} ${event.event} ${event.to}`,
    );
    expect(lines).toEqual([
      "0 supervisor new start starting",
      "0 child waiting start starting",
      "0 child starting started running",
      "0 supervisor starting started running",
      "0 child running crash waiting",
      "1000 child waiting start starting",
      "1000 child starting started running",
      "1000 supervisor running close stopping",
      "1000 child running stop stopping",
      "1000 child stopping stopped stopped",
      "1000 supervisor stopping stopped ended",
    ]);
    expect(events[4]).toMatchObject({ supervisor: "s", child: "a", reason: "no more", restarts: 0 });
    expect(events[5]).toMatchObject({ restarts: 1 });
  });

  it("reach every listener of their type until it leaves, and survive listeners that throw or call back", async () => {
    const warnings: string[] = [];
    const platform = { ...use.clock.platform, warn: (message: string) => void warnings.push(message) };
    const made = use.supervisor({ platform, children: [madeChild("a", use.log).spec] });
    const heard: string[] = [];
    made.on("child", () => {
      throw new Error("boom");
    });
    const leave = made.on("any", (event) => heard.push(event.type));
    made.on("child", ({ to }) => to === "running" && made.close());
    await made.start().catch(() => {});
    await made.ended;
    expect(heard).toContain("child");
    expect(warnings[0]).toBe('`on("child")` failed: boom');
    const count = heard.length;
    leave();
    await use.clock.advance(0);
    expect(heard).toHaveLength(count);
    expect(statesOf(made)).toEqual(["a stopped"]);
  });
});
