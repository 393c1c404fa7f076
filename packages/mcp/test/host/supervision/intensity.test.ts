import { McpError } from "@parley/mcp";
import { Supervisor } from "@parley/mcp/supervision";
import { describe, expect, it } from "vitest";
import { type MadeChild, madeChild } from "./made-child.js";
import { EXACT, statesOf, supervisorFixture } from "./supervisor-fixture.js";

const use = supervisorFixture();
const FAST = { firstMs: 10, longestMs: 10, jitter: 0 };

async function crashes(child: MadeChild, times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    child.crash();
    await use.clock.advance(10);
  }
}

describe("the restart intensity", () => {
  it("ends the supervisor at the sixth failure within a minute, in reverse order", async () => {
    const { made, b } = await use.three("one_for_one");
    for (let time = 0; time < 5; time++) {
      b.crash();
      await use.clock.advance(16_000 / 2 ** (4 - time));
    }
    expect(statesOf(made)).toEqual(["a running", "b running", "c running"]);
    use.log.length = 0;
    b.crash("the last straw");
    const exit = await made.ended;
    expect(exit).toMatchObject({ normal: false, reason: expect.stringContaining("the last straw") });
    expect(McpError.is(exit.error) && exit.error.kind).toBe("limit_exceeded");
    expect(use.log).toEqual(["-c", "-a"]);
    expect(made.state).toBe("ended");
  });

  it("counts the failures of all children together, and forgets them after their time", async () => {
    const children = ["a", "b"].map((id) => madeChild(id, use.log)) as [MadeChild, MadeChild];
    const made = use.supervisor({
      children: children.map(({ spec }) => spec),
      intensity: { restarts: 2, withinMs: 1_000 },
      backOff: FAST,
    });
    await made.start();
    await crashes(children[0], 1);
    await crashes(children[1], 1);
    await use.clock.advance(980);
    await crashes(children[0], 1);
    expect(made.state).toBe("running");
    await crashes(children[1], 1);
    await crashes(children[1], 1);
    expect(made.state).toBe("ended");
  });

  it("allows no restart at all with 0, and counts failing starts", async () => {
    const a = madeChild("a", use.log);
    a.failing = 1;
    const made = use.supervisor({ children: [a.spec], intensity: { restarts: 0 } });
    await expect(made.start()).rejects.toMatchObject({ kind: "limit_exceeded", cause: new Error("no start of a") });
    expect((await made.ended).normal).toBe(false);
  });

  it("holds an isolated child, tries it again, and leaves the others alone", async () => {
    const [a, b] = [madeChild("a", use.log, { retryMs: 5_000 }), madeChild("b", use.log)];
    const made = use.supervisor({
      strategy: "one_for_all",
      children: [a.spec, b.spec],
      intensity: { restarts: 2 },
      backOff: FAST,
    });
    await made.start();
    await crashes(a, 3);
    expect(statesOf(made)).toEqual(["a failed", "b running"]);
    await use.clock.advance(4_989);
    expect(statesOf(made)).toEqual(["a failed", "b running"]);
    await use.clock.advance(1);
    expect(statesOf(made)).toEqual(["a running", "b running"]);
    expect(use.log.filter((entry) => entry.endsWith("b"))).toEqual(["+b"]);
    expect(made.state).toBe("running");
  });

  it("passes from a supervisor to its parent, which starts a new one and passes it on in turn", async () => {
    const leaf = madeChild("leaf", use.log);
    const nested = () =>
      new Supervisor({
        name: "inner",
        children: [leaf.spec],
        intensity: { restarts: 1 },
        backOff: FAST,
        platform: use.clock.platform,
      });
    const made = use.supervisor({
      children: [{ id: "inner", start: nested }],
      intensity: { restarts: 1 },
      backOff: { ...EXACT, firstMs: 100 },
    });
    await made.start();
    const first = made.child("inner");
    expect(made.child("inner", "leaf")).toBe(leaf.latest);
    await crashes(leaf, 2);
    expect(statesOf(made)).toEqual(["inner waiting"]);
    await use.clock.advance(100);
    expect(statesOf(made)).toEqual(["inner running"]);
    expect(made.child("inner")).not.toBe(first);
    expect(leaf.living.size).toBe(1);
    await crashes(leaf, 2);
    const exit = await made.ended;
    expect(exit.reason).toMatch(/"inner" failed after 1 restart within.*"leaf" failed after 1 restart within.*boom/);
    expect(leaf.living.size).toBe(0);
  });
});
