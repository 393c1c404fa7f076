import { type ChildSpec, type SupervisionStrategy, Supervisor, type SupervisorOptions } from "@parley/mcp/host";
import { type FakeClock, fakeClock } from "@parley/mcp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type MadeChild, type MadeInstance, madeChild } from "./made-child.js";

let clock: FakeClock;
let log: string[];
let open: Supervisor[];
beforeEach(() => {
  clock = fakeClock();
  log = [];
  open = [];
});
afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  expect(clock.pending).toBe(0);
});

const EXACT = { firstMs: 1_000, longestMs: 30_000, jitter: 0 };

function supervisor(options: Partial<SupervisorOptions> = {}): Supervisor {
  const made = new Supervisor({ name: "s", backOff: EXACT, platform: clock.platform, ...options });
  open.push(made);
  return made;
}

/** A running supervisor of the children a, b and c. */
async function threeOf(strategy: SupervisionStrategy, options: Partial<ChildSpec<MadeInstance>> = {}) {
  const children = ["a", "b", "c"].map((id) => madeChild(id, log, options));
  const made = supervisor({ strategy, children: children.map(({ spec }) => spec) });
  await made.start();
  const [a, b, c] = children as [MadeChild, MadeChild, MadeChild];
  return { made, a, b, c };
}

const statesOf = (made: Supervisor) => made.children().map(({ id, state }) => `${id} ${state}`);

describe("the order", () => {
  it("starts children one after the other and stops them in reverse", async () => {
    const { made } = await threeOf("one_for_one");
    expect(log).toEqual(["+a", "+b", "+c"]);
    expect(made.state).toBe("running");
    await made.close();
    expect(log).toEqual(["+a", "+b", "+c", "-c", "-b", "-a"]);
    expect(await made.ended).toEqual({ normal: true, reason: "closed" });
    expect(statesOf(made)).toEqual(["a stopped", "b stopped", "c stopped"]);
  });

  it("starts a child when the one before works, also if that needed several starts", async () => {
    const [a, b] = [madeChild("a", log), madeChild("b", log)];
    a.failing = 2;
    const made = supervisor({ children: [a.spec, b.spec] });
    const started = made.start();
    await clock.advance(2_999);
    expect(log).toEqual(["!a", "!a"]);
    await clock.advance(1);
    await started;
    expect(log).toEqual(["!a", "!a", "+a", "+b"]);
  });
});

describe("the strategies", () => {
  it.each([
    ["one_for_one", ["+b"]],
    ["rest_for_one", ["-c", "+b", "+c"]],
    ["one_for_all", ["-c", "-a", "+a", "+b", "+c"]],
  ] as const)("%s restarts whom it names when the second of three ends", async (strategy, after) => {
    const { made, b } = await threeOf(strategy);
    log.length = 0;
    b.crash();
    await clock.advance(999);
    expect(log.filter((entry) => entry.startsWith("+"))).toEqual([]);
    await clock.advance(1);
    expect(log).toEqual(after);
    expect(statesOf(made)).toEqual(["a running", "b running", "c running"]);
  });
});
