import { type ChildChanged, type ChildSpec, type SupervisionEvent, Supervisor } from "@parley/mcp/supervision";
import { type FakeClock, fakeClock } from "@parley/mcp/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

// Starts and stops that take time, at random, some longer than they may: here no model says what happens, but what may not.

const STOP_MS = 200;
const START_MS = 300;

const behaviour = fc.record({
  startMs: fc.constantFrom(0, 10, 100, START_MS + 50),
  stopMs: fc.constantFrom(0, 10, 100),
  fails: fc.boolean(),
  livesMs: fc.constantFrom(20, 150, 1_000, 100_000),
  obeys: fc.boolean(),
  normal: fc.boolean(),
});
type Behaviour = typeof behaviour extends fc.Arbitrary<infer T> ? T : never;

class SlowChild {
  readonly spec: ChildSpec<object>;
  /** From the moment an instance is given until it has ended or its stop is done. */
  readonly living = new Set<object>();
  starts = 0;
  readonly #clock: FakeClock;
  readonly #behaviours: readonly Behaviour[];

  constructor(
    id: string,
    clock: FakeClock,
    behaviours: readonly Behaviour[],
    policy: Pick<ChildSpec, "restart" | "retryMs">,
  ) {
    this.#clock = clock;
    this.#behaviours = behaviours;
    this.spec = { ...this.#spec(id), ...policy, startMs: START_MS, stopMs: STOP_MS };
  }

  #spec(id: string): ChildSpec<object> {
    const lives = new Map<object, Behaviour>();
    return {
      id,
      start: async (signal) => {
        const now = this.#behaviours[this.starts++ % this.#behaviours.length] as Behaviour;
        await this.#wait(now.startMs, now.obeys ? signal : undefined);
        if (now.fails || (now.obeys && signal.aborted)) throw new Error("no start");
        const instance = {};
        lives.set(instance, now);
        this.living.add(instance);
        return instance;
      },
      ended: async (instance) => {
        await this.#wait(lives.get(instance)?.livesMs ?? 0);
        this.living.delete(instance);
        return { normal: lives.get(instance)?.normal ?? true, reason: "its time was over" };
      },
      stop: async (instance) => {
        await this.#wait(lives.get(instance)?.stopMs ?? 0);
        this.living.delete(instance);
      },
    };
  }

  #wait(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (ms === 0) return resolve();
      const timer = this.#clock.platform.timer(ms, resolve);
      signal?.addEventListener("abort", () => {
        timer.cancel();
        resolve();
      });
    });
  }
}

const order = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.constantFrom(1, 10, 60, 400, 2_000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom("stop", "restart", "remove", "add"), at: fc.nat({ max: 5 }) }),
  },
);

const policy = fc.record({
  restart: fc.constantFrom("permanent" as const, "permanent" as const, "transient" as const, "temporary" as const),
  retryMs: fc.constantFrom(undefined, undefined, 500),
});

describe("children that take their time", () => {
  it("never live twice, take only steps of the table, and are all gone soon after the end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("one_for_one" as const, "one_for_all" as const, "rest_for_one" as const),
        fc.array(fc.tuple(fc.array(behaviour, { minLength: 1, maxLength: 4 }), policy), { minLength: 1, maxLength: 5 }),
        fc.array(order, { maxLength: 30, size: "max" }),
        async (strategy, given, orders) => {
          const clock = fakeClock();
          const events: SupervisionEvent[] = [];
          const children = given.map(([behaviours, one], at) => new SlowChild(`c${at}`, clock, behaviours, one));
          const supervisor = new Supervisor({
            name: "s",
            strategy,
            intensity: { restarts: 4, withinMs: 1_000 },
            backOff: { firstMs: 50, longestMs: 400, jitter: 0 },
            children: children.slice(0, 3).map(({ spec }) => spec),
            platform: clock.platform,
            onEvent: (event) => events.push(event),
          });
          const alive = () => children.map(({ living }) => living.size);
          void supervisor.start();
          for (const one of orders) {
            if ("ms" in one) await clock.advance(one.ms);
            else {
              const { spec } = children[one.at % children.length] as SlowChild;
              if (one.do === "add") void supervisor.startChild(spec);
              else if (one.do === "restart") void supervisor.restartChild(spec.id);
              else if (one.do === "stop") void supervisor.stopChild(spec.id).catch(() => {});
              else void supervisor.removeChild(spec.id).catch(() => {});
              await clock.advance(0);
            }
            const left = events.some(({ type }) => type === "left_behind");
            if (!left) expect(Math.max(...alive())).toBeLessThanOrEqual(1);
          }
          const bound = supervisor.stopBoundMs;
          void supervisor.close();
          const starts = children.map((child) => child.starts);
          await clock.advance(bound + 1);
          expect(supervisor.state).toBe("ended");
          // What was left behind while it started ends by itself when it is given.
          await clock.advance(START_MS + STOP_MS + 1_000);
          expect(children.map((child) => child.starts)).toEqual(starts);
          expect(alive()).toEqual(children.map(() => 0));
          expectChains(events.filter((event) => event.type === "child"));
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** Each step of a child begins where the one before ended; a child that was removed and added again begins anew. */
function expectChains(events: readonly ChildChanged[]): void {
  const last = new Map<string, string>();
  for (const { child, from, to } of events) {
    if (from !== "waiting") expect(from).toBe(last.get(child));
    last.set(child, to);
  }
}
