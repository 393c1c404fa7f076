import { describe, expect, it } from "vitest";
import { virtualTime } from "../../../test/http-client/virtual-time.js";
import { CallDeadlines, type Deadline } from "./call-deadlines.js";

function setUp() {
  const time = virtualTime();
  const expired: string[] = [];
  const deadlines = new CallDeadlines<Deadline & { name: string }>(time.platform, {
    expire: ({ name }, which) => expired.push(`${name} ${which} at ${time.now() - 1_000_000}`),
    abandon: () => {},
  });
  const add = (name: string, idle: number, total: number) => {
    const deadline = { name, started: time.now(), lastActivity: time.now(), idle, total, paused: 0 };
    deadlines.add(deadline);
    return deadline;
  };
  const runTo = (at: number) => {
    for (let bound = 0; bound < 1000 && time.now() < 1_000_000 + at; bound++) {
      if (!time.next(1_000_000 + at - time.now())) {
        time.platform.timer(1_000_000 + at - time.now(), () => {});
        time.next();
      }
    }
  };
  return { time, deadlines, expired, add, runTo };
}

// What fires first, by idle, total and signs of life at these moments.
const table: [idle: number, total: number, signs: number[], expected: string][] = [
  [100, 1000, [], "a idle at 100"],
  [1000, 100, [], "a total at 100"],
  [100, 100, [], "a total at 100"],
  [100, 1000, [50], "a idle at 150"],
  [100, 1000, [50, 140, 230], "a idle at 330"],
  [100, 1000, [99], "a idle at 199"],
  [100, 300, [50, 100, 150, 200, 250], "a total at 300"],
  [100, 250, [90, 180], "a total at 250"],
  [100, Number.POSITIVE_INFINITY, [60], "a idle at 160"],
  [Number.POSITIVE_INFINITY, 500, [60], "a total at 500"],
  [0, 1000, [], "a idle at 0"],
  [1000, 0, [], "a total at 0"],
];

describe("two bounds on one timer", () => {
  for (const [idle, total, signs, expected] of table) {
    it(`idle ${idle}, total ${total}, signs at [${signs.join(", ")}]: ${expected}`, () => {
      const { time, expired, add, runTo } = setUp();
      const deadline = add("a", idle, total);
      for (const at of signs) {
        runTo(at);
        deadline.lastActivity = time.now();
      }
      runTo(2000);
      expect(expired).toEqual([expected]);
    });
  }

  it("a hundred deadlines need one timer, and none after the last is removed and due", () => {
    const { time, deadlines, add, runTo } = setUp();
    const all = Array.from({ length: 100 }, (_, index) => add(String(index), 1000 + index, 5000));
    expect(time.pending()).toBe(1);
    for (const deadline of all) deadlines.waiting.delete(deadline);
    runTo(6000);
    expect(time.pending()).toBe(0);
  });

  it("expire in the order of their moments", () => {
    const { expired, add, runTo } = setUp();
    add("slow", 300, 1000);
    add("fast", 100, 1000);
    add("middle", 200, 1000);
    runTo(1000);
    expect(expired.map((line) => line.split(" ")[0])).toEqual(["fast", "middle", "slow"]);
  });

  it("while held, only the total counts; silence counts anew after the release", () => {
    const { deadlines, expired, add, runTo } = setUp();
    add("idle", 100, 10_000);
    add("total", 100, 500);
    const releases = [deadlines.hold(), deadlines.hold()];
    runTo(1000);
    releases[0]?.();
    releases[0]?.();
    runTo(2000);
    expect(expired).toEqual(["total total at 500"]);
    releases[1]?.();
    runTo(3000);
    expect(expired).toEqual(["total total at 500", "idle idle at 2100"]);
  });

  it("what begins while others are held is not held", () => {
    const { deadlines, expired, add, runTo } = setUp();
    add("held", 100, 10_000);
    deadlines.hold();
    add("later", 100, 10_000);
    runTo(1000);
    expect(expired).toEqual(["later idle at 100"]);
  });

  it("a paused one waits for its renewal", () => {
    const { deadlines, expired, add, runTo } = setUp();
    const deadline = add("a", 100, 10_000);
    deadline.paused++;
    runTo(1000);
    expect(expired).toEqual([]);
    deadline.paused--;
    deadlines.renew(deadline);
    runTo(2000);
    expect(expired).toEqual(["a idle at 1100"]);
  });

  it("stop forgets everything", () => {
    const { time, deadlines, expired, add, runTo } = setUp();
    add("a", 100, 100);
    deadlines.stop();
    expect(time.pending()).toBe(0);
    runTo(1000);
    expect(expired).toEqual([]);
  });
});
