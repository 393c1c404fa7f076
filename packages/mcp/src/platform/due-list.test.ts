import { describe, expect, it } from "vitest";
import { fakeTime } from "../../test/http/fake-time.js";
import { DueList } from "./due-list.js";

function setUp(delayMs: number) {
  const time = fakeTime();
  const due: string[] = [];
  return { time, due, list: new DueList<string>(time.platform, delayMs, (item) => due.push(item)) };
}

describe("the items of a due list", () => {
  it("fall due in the order of the last touch, watched by one timer", () => {
    const { time, due, list } = setUp(1000);
    list.touch("a");
    time.advance(100);
    list.touch("b");
    list.touch("a");
    expect(time.pending()).toBe(1);
    time.advance(999);
    expect(due).toEqual([]);
    time.advance(200);
    expect(due).toEqual(["b", "a"]);
    expect(time.pending()).toBe(0);
  });

  it("are at most a sixteenth late", () => {
    const { time, due, list } = setUp(1600);
    for (let n = 0; n < 100; n++) {
      list.touch(`i${n}`);
      time.advance(10);
    }
    time.advance(1600 + 100);
    expect(due).toHaveLength(100);
  });

  it("forget what was dropped and can be touched again while they fall due", () => {
    const time = fakeTime();
    let rounds = 0;
    const list: DueList<string> = new DueList(time.platform, 10, (item) => {
      if (++rounds < 3) list.touch(item);
    });
    list.touch("again");
    list.touch("gone");
    list.drop("gone");
    time.advance(1000);
    expect(rounds).toBe(3);
    expect(time.pending()).toBe(0);
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
    const list = new DueList<string>(platform, 10, (item) => {
      if (item === "bad") throw new Error("bad");
      due.push(item);
    });
    list.touch("bad");
    lost = false;
    time.advance(21);
    list.touch("good");
    time.advance(20);
    expect(due).toEqual(["good"]);
    expect(time.warnings).toHaveLength(1);
  });
});
