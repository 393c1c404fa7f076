import { type RestartPolicy, Supervisor } from "@parley/mcp/supervision";
import { type FakeClock, fakeClock } from "@parley/mcp/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MadeChild, madeChild } from "./made-child.js";
import { type ModelChild, type ModelRules, SupervisionModel } from "./supervision-model.js";

// The supervisor and the model get the same orders on the same clock. After each, what was started and stopped, in which
// order, and every state must be the same.

const policies: readonly RestartPolicy[] = ["permanent", "permanent", "transient", "temporary"];

const rules: fc.Arbitrary<ModelRules> = fc.record({
  strategy: fc.constantFrom("one_for_one", "one_for_all", "rest_for_one"),
  restarts: fc.integer({ min: 0, max: 6 }),
  withinMs: fc.constantFrom(500, 2_000, 10_000),
  firstMs: fc.constantFrom(50, 100),
  longestMs: fc.constantFrom(100, 800),
});

const child = fc.record({
  policy: fc.constantFrom(...policies),
  retryMs: fc.constantFrom(undefined, undefined, undefined, 300),
});

const at = fc.nat({ max: 9 });
const order = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant("end" as const), at, normal: fc.boolean() }) },
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.constantFrom(0, 50, 99, 100, 250, 500, 1_500) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("fail" as const), at, times: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("stop" as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("add" as const), child, failing: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("close" as const) }) },
);
type Order = typeof order extends fc.Arbitrary<infer T> ? T : never;

class Both {
  readonly clock: FakeClock = fakeClock();
  readonly log: string[] = [];
  readonly made = new Map<string, MadeChild>();
  readonly supervisor: Supervisor;
  readonly model: SupervisionModel;

  constructor(given: ModelRules) {
    const { strategy, restarts, withinMs, firstMs, longestMs } = given;
    this.model = new SupervisionModel(given);
    this.supervisor = new Supervisor({
      name: "s",
      strategy,
      intensity: { restarts, withinMs },
      backOff: { firstMs, longestMs, jitter: 0 },
      platform: this.clock.platform,
    });
  }

  add({ policy, retryMs }: { policy: RestartPolicy; retryMs: number | undefined }, failing: number): void {
    const id = `c${this.made.size}`;
    const one = madeChild(id, this.log, { restart: policy, retryMs });
    one.failing = failing;
    this.made.set(id, one);
    void this.supervisor.startChild(one.spec);
    this.model.add(id, policy, retryMs, failing);
  }

  async follow(given: Order): Promise<void> {
    if (given.do === "advance") {
      await this.clock.advance(given.ms);
      this.model.advance(given.ms);
    } else if (given.do === "close") {
      await this.supervisor.close();
      this.model.close();
    } else if (this.model.ended) return;
    else if (given.do === "add") this.add(given.child, given.failing);
    else {
      const { children } = this.model;
      const chosen = children[given.at % Math.max(1, children.length)];
      const made = this.made.get(chosen?.id ?? "");
      if (chosen !== undefined && made !== undefined) await this.#order(given, chosen, made);
    }
  }

  async #order(given: Order & { at: number }, child: ModelChild, made: MadeChild): Promise<void> {
    if (given.do === "end" && child.state === "running") {
      if (given.normal) made.finish();
      else made.crash();
      this.model.ends(child, given.normal);
    } else if (given.do === "fail") {
      made.failing = given.times;
      child.failing = given.times;
    } else if (given.do === "stop") {
      await this.supervisor.stopChild(child.id);
      this.model.stop(child);
    } else if (given.do === "remove") {
      await this.supervisor.removeChild(child.id);
      this.model.remove(child);
    } else if (given.do === "restart" && (this.model.group === undefined || this.model.isAlone(child))) {
      await this.supervisor.restartChild(child.id).catch(() => {});
      this.model.restart(child);
    }
  }

  /** The log with stops of isolated neighbours sorted: these are ended together, and no order is promised among them. */
  #inOrder(log: readonly string[]): string[] {
    const together = (entry: string) =>
      entry.startsWith("-") && this.made.get(entry.slice(1))?.spec.retryMs !== undefined;
    const ordered: string[] = [];
    let neighbours: string[] = [];
    for (const entry of log) {
      if (!together(entry)) ordered.push(...neighbours.sort(), entry);
      neighbours = together(entry) ? [...neighbours, entry] : [];
    }
    return [...ordered, ...neighbours.sort()];
  }

  async compare(): Promise<void> {
    await this.clock.advance(0);
    this.model.advance(0);
    expect(this.#inOrder(this.log)).toEqual(this.#inOrder(this.model.log));
    const states = this.supervisor.children().map(({ id, state }) => `${id} ${state}`);
    expect(states).toEqual(this.model.children.map(({ id, state }) => `${id} ${state}`));
    expect(this.supervisor.state).toBe(this.model.ended ? "ended" : "running");
    for (const one of this.made.values()) expect(one.living.size).toBeLessThanOrEqual(1);
  }
}

describe("a supervisor and the model of its rules", () => {
  it("do the same, whatever ends, fails, is added, stopped, removed or closed", async () => {
    await fc.assert(
      fc.asyncProperty(
        rules,
        fc.array(child, { minLength: 1, maxLength: 5 }),
        fc.array(order, { minLength: 1, maxLength: 40, size: "max" }),
        async (given, children, orders) => {
          const both = new Both(given);
          await both.supervisor.start();
          for (const one of children) both.add(one, 0);
          await both.compare();
          for (const one of orders) {
            await both.follow(one);
            await both.compare();
          }
          await both.supervisor.close();
          expect(both.clock.pending).toBe(0);
          for (const one of both.made.values()) expect(one.living.size).toBe(0);
        },
      ),
      { numRuns: 500 },
    );
  });
});
