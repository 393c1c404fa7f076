import { printTree, type SupervisionEvent, Supervisor } from "@parley/mcp/supervision";
import { describe, expect, it } from "vitest";
import { madeChild } from "./made-child.js";
import { EXACT, statesOf, supervisorFixture } from "./supervisor-fixture.js";

const use = supervisorFixture();
const never = () => new Promise<never>(() => {});
const inner = (...children: ConstructorParameters<typeof Supervisor>[0]["children"] & object) =>
  new Supervisor({ name: "inner", children, backOff: EXACT, platform: use.clock.platform });

describe("a supervisor as a child", () => {
  it("is started by its parent, which passes on its events and shows its tree", async () => {
    const events: SupervisionEvent[] = [];
    const leaf = madeChild("leaf", use.log);
    const made = use.supervisor({
      children: [{ id: "i", start: () => inner(leaf.spec) }],
      onEvent: (event) => events.push(event),
    });
    await made.start();
    expect(events.filter(({ supervisor }) => supervisor === "s/inner").map(({ type }) => type)).toEqual([
      "supervisor",
      "child",
      "child",
      "supervisor",
    ]);
    await use.clock.advance(61_000);
    expect(printTree(made.tree()).split("\n")).toEqual([
      "s (one_for_one) running",
      "└─ i (one_for_one) running, up 1 min 1 s",
      "   └─ leaf running, up 1 min 1 s",
    ]);
  });

  it("shows its tree while it starts, and is closed with its parent then", async () => {
    const leaf = madeChild("leaf", use.log);
    const made = use.supervisor({
      children: [{ id: "i", start: () => inner(leaf.spec, { id: "slow", start: never, stopMs: 100 }) }],
    });
    const started = made.start();
    await use.clock.advance(60_000);
    expect(made.tree().children[0]?.supervisor?.children.map(({ id, state }) => `${id} ${state}`)).toEqual([
      "leaf running",
      "slow starting",
    ]);
    const closing = made.close();
    await use.clock.advance(100);
    await closing;
    await expect(started).rejects.toMatchObject({ kind: "cancelled" });
    expect(leaf.living.size).toBe(0);
  });

  it("may take as long to end as its children, also those that were added later", async () => {
    const events: SupervisionEvent[] = [];
    const made = use.supervisor({ children: [{ id: "i", start: () => inner() }] });
    made.on("left_behind", (event) => events.push(event));
    await made.start();
    const nested = made.child("i") as Supervisor;
    for (const id of ["a", "b", "c"])
      await nested.startChild(madeChild(id, use.log, { stop: never, stopMs: 4_000 }).spec);
    const closing = made.close();
    await use.clock.advance(12_000);
    await closing;
    expect(events.map((event) => event.type === "left_behind" && event.child)).toEqual(["c", "b", "a"]);
    expect(nested.state).toBe("ended");
  });

  it("ends normally when it is closed, and a transient one then stays so", async () => {
    const made = use.supervisor({ children: [{ id: "i", restart: "transient", start: () => inner() }] });
    await made.start();
    await (made.child("i") as Supervisor).close();
    await use.clock.advance(100_000);
    expect(statesOf(made)).toEqual(["i ended"]);
  });
});
