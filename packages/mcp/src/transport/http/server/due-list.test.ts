import { describe, expect, it } from "vitest";
import { fakeTime } from "../../../../test/http/fake-time.js";
import { Deadlines } from "./due-list.js";

function setUp(delayMs: number) {
  const time = fakeTime();
  const due: string[] = [];
  return { time, due, deadlines: new Deadlines<string>(time.platform, delayMs, (item) => due.push(item)) };
}

describe("deadlines", () => {
  it("fall due in the order of the last touch, watched by one timer", () => {
    const { time, due, deadlines } = setUp(1000);
    deadlines.touch("a");
    time.advance(100);
    deadlines.touch("b");
    deadlines.touch("a");
    expect(time.pending()).toBe(1);
    time.advance(999);
    expect(due).toEqual([]);
    time.advance(200);
    expect(due).toEqual(["b", "a"]);
    expect(time.pending()).toBe(0);
  });

  it("are at most a sixteenth late", () => {
    const { time, due, deadlines } = setUp(1600);
    for (let n = 0; n < 100; n++) {
      deadlines.touch(`i${n}`);
      time.advance(10);
    }
    time.advance(1600 + 100);
    expect(due).toHaveLength(100);
  });

  it("forget what was dropped and can be touched again while they fall due", () => {
    const time = fakeTime();
    let rounds = 0;
    const deadlines: Deadlines<string> = new Deadlines(time.platform, 10, (item) => {
      if (++rounds < 3) deadlines.touch(item);
    });
    deadlines.touch("again");
    deadlines.touch("gone");
    deadlines.drop("gone");
    time.advance(1000);
    expect(rounds).toBe(3);
    expect(deadlines.size).toBe(0);
    expect(time.pending()).toBe(0);
  });

  it("survive a timer that never comes, and an item whose task fails", () => {
    const time = fakeTime();
    let lost = true;
    const due: string[] = [];
    const platform = {
      ...time.platform,
      timer: (ms: number, run: () => void) => (lost ? { cancel: () => {} } : time.platform.timer(ms, run)),
    };
    const deadlines = new Deadlines<string>(platform, 10, (item) => {
      if (item === "bad") throw new Error("bad");
      due.push(item);
    });
    deadlines.touch("bad");
    lost = false;
    time.advance(21);
    deadlines.touch("good");
    time.advance(20);
    expect(due).toEqual(["good"]);
    expect(time.warnings).toHaveLength(1);
  });

  it("know which is the oldest, and since when", () => {
    const { time, deadlines } = setUp(1000);
    deadlines.touch("a");
    time.advance(5);
    deadlines.touch("b");
    expect(deadlines.oldest).toBe("a");
    expect(time.platform.now() - (deadlines.touchedAt("a") ?? 0)).toBe(5);
    expect(deadlines.touchedAt("c")).toBeUndefined();
    deadlines.close();
    expect(time.pending()).toBe(0);
  });
});
