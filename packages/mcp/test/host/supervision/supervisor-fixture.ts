import { type ChildSpec, type SupervisionStrategy, Supervisor, type SupervisorOptions } from "@parley/mcp/supervision";
import { type FakeClock, fakeClock } from "@parley/mcp/testing";
import { afterEach, beforeEach, expect } from "vitest";
import { type MadeChild, type MadeInstance, madeChild } from "./made-child.js";

/** A back-off without chance. */
export const EXACT = { firstMs: 1_000, longestMs: 30_000, jitter: 0 };

/** What the tests of one file use: a clock, a log of starts and stops, and supervisors that are closed after each test. */
export interface SupervisorFixture {
  readonly clock: FakeClock;
  readonly log: string[];
  supervisor(options?: Partial<SupervisorOptions>): Supervisor;
  /** A running supervisor of the children a, b and c. */
  three(strategy: SupervisionStrategy, options?: Partial<ChildSpec<MadeInstance>>): Promise<Three>;
}

interface Three {
  readonly made: Supervisor;
  readonly a: MadeChild;
  readonly b: MadeChild;
  readonly c: MadeChild;
}

/** Sets the fixture up before each test. After each, nothing may be left: no timer and no instance. */
export function supervisorFixture(): SupervisorFixture {
  let clock: FakeClock;
  let log: string[];
  let made: Supervisor[];
  beforeEach(() => {
    clock = fakeClock();
    log = [];
    made = [];
  });
  afterEach(async () => {
    for (const one of made) {
      const closed = one.close();
      // Longer than any stop in these tests may take.
      await clock.advance(100_000);
      await closed;
    }
    expect(clock.pending).toBe(0);
  });
  const supervisor = (options: Partial<SupervisorOptions> = {}) => {
    const one = new Supervisor({ name: "s", backOff: EXACT, platform: clock.platform, ...options });
    made.push(one);
    return one;
  };
  return {
    get clock() {
      return clock;
    },
    get log() {
      return log;
    },
    supervisor,
    async three(strategy, options) {
      const [a, b, c] = [madeChild("a", log, options), madeChild("b", log, options), madeChild("c", log, options)];
      const one = supervisor({ strategy, children: [a.spec, b.spec, c.spec] });
      await one.start();
      log.length = 0;
      return { made: one, a, b, c };
    },
  };
}

/** The states of all children, as `id state`. */
export const statesOf = (one: Supervisor) => one.children().map(({ id, state }) => `${id} ${state}`);
