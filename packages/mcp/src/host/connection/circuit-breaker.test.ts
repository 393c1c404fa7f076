import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { McpError } from "../../protocol/error.js";
import { fakeClock } from "../../testing/fake-clock.js";
import {
  CIRCUIT_TRANSITIONS,
  CircuitBreaker,
  type CircuitChange,
  type CircuitEvent,
  type CircuitOptions,
  type CircuitState,
} from "./circuit-breaker.js";

function circuit(options?: CircuitOptions) {
  const clock = fakeClock();
  const changes: CircuitChange[] = [];
  const platform = { ...clock.platform, warn: () => {} };
  const breaker = new CircuitBreaker({ platform, server: "files", onChange: (one) => changes.push(one) }, options);
  const fail = () => breaker.failed(breaker.admit());
  const succeed = () => breaker.succeeded(breaker.admit());
  return { clock, breaker, changes, fail, succeed };
}

function refusalOf(breaker: CircuitBreaker): McpError {
  try {
    breaker.admit();
  } catch (error) {
    if (McpError.is(error)) return error;
  }
  throw new Error("the call was admitted");
}

/** A circuit in a state; `calls` are two that are under way in it, of which an open one has none but earlier ones. */
async function inState(state: CircuitState) {
  const parts = circuit({ failures: 2, openMs: 1000, successes: 2, trials: 2 });
  const { breaker, clock, fail } = parts;
  const early = [breaker.admit(), breaker.admit()];
  if (state !== "closed") {
    fail();
    fail();
  }
  if (state === "half_open") await clock.advance(1000);
  expect(breaker.state).toBe(state);
  return { ...parts, calls: () => (state === "half_open" ? [breaker.admit(), breaker.admit()] : early) };
}

describe("a circuit", () => {
  it("opens after five failures in a row, and a success in between begins anew", () => {
    const { breaker, fail, succeed } = circuit({ window: 100 });
    for (let count = 0; count < 4; count++) fail();
    succeed();
    for (let count = 0; count < 4; count++) fail();
    expect(breaker.state).toBe("closed");
    fail();
    expect(breaker.state).toBe("open");
  });

  it("opens when half of the last ten calls failed, by a failure and never by a success", () => {
    const { breaker, fail, succeed } = circuit();
    for (let count = 0; count < 5; count++) {
      fail();
      succeed();
    }
    expect(breaker.state).toBe("closed");
    fail();
    expect(breaker.state).toBe("open");
  });

  it("refuses while open, with the time to wait", async () => {
    const { breaker, clock, fail } = circuit();
    for (let count = 0; count < 5; count++) fail();
    await clock.advance(20_000);
    const refusal = refusalOf(breaker);
    expect(refusal.kind).toBe("limit_exceeded");
    expect(refusal.data).toEqual({ limit: "circuit", server: "files", state: "open", retryAfterMs: 40_000 });
    expect(refusal.message).toContain('"files"');
    await clock.advance(40_000);
    expect(breaker.state).toBe("half_open");
  });

  it("lets one trial at a time pass when half open, and closes after two", async () => {
    const { breaker, clock, fail, changes } = circuit();
    for (let count = 0; count < 5; count++) fail();
    await clock.advance(60_000);
    const trial = breaker.admit();
    expect(refusalOf(breaker).data).toMatchObject({ state: "half_open", retryAfterMs: 60_000 });
    breaker.succeeded(trial);
    expect(breaker.state).toBe("half_open");
    breaker.succeeded(breaker.admit());
    expect(changes.map(({ to }) => to)).toEqual(["open", "half_open", "closed"]);
  });

  it("gives the place of an abandoned trial to the next", async () => {
    const { breaker } = await inState("half_open");
    breaker.abandoned(breaker.admit());
    expect(() => breaker.admit()).not.toThrow();
  });

  it("ignores calls that began before it opened", async () => {
    const { breaker, clock, fail } = circuit({ failures: 1, openMs: 1000 });
    const [early, other] = [breaker.admit(), breaker.admit()];
    fail();
    breaker.failed(early);
    await clock.advance(1000);
    const trial = breaker.admit();
    breaker.failed(other);
    expect(breaker.state).toBe("half_open");
    expect(() => breaker.admit()).toThrow();
    breaker.failed(trial);
    expect(breaker.state).toBe("open");
  });

  it("is closed and without memory after a reset", async () => {
    const { breaker, fail } = await inState("open");
    breaker.reset();
    fail();
    expect(breaker.state).toBe("closed");
  });

  it("survives a listener that throws", () => {
    const warnings: string[] = [];
    const platform = { ...fakeClock().platform, warn: (text: string) => void warnings.push(text) };
    const onChange = () => {
      throw new Error("oops");
    };
    const breaker = new CircuitBreaker({ platform, server: "files", onChange }, { failures: 1 });
    breaker.failed(breaker.admit());
    expect(breaker.state).toBe("open");
    expect(warnings).toEqual(["`onChange` failed: oops"]);
  });

  it.each([{ failures: 0 }, { window: 1.5 }, { failureRate: 2 }, { openMs: -1 }, { trials: Number.NaN }])(
    "refuses the options %o",
    (options) => {
      expect(() => circuit(options)).toThrow(Object.keys(options)[0]);
    },
  );
});

describe("the transitions of a circuit", () => {
  const acts: Record<CircuitEvent, (parts: Awaited<ReturnType<typeof inState>>) => unknown> = {
    success: ({ breaker, calls }) => breaker.succeeded(calls()[0] ?? -1),
    last_success: ({ breaker, calls }) => calls().map((call) => breaker.succeeded(call)),
    failure: ({ breaker, calls }) => breaker.failed(calls()[0] ?? -1),
    last_failure: ({ breaker, calls }) => calls().map((call) => breaker.failed(call)),
    time_passed: ({ clock }) => clock.advance(1000),
  };
  const rows = (["closed", "open", "half_open"] as const).flatMap((from) =>
    (["success", "last_success", "failure", "last_failure", "time_passed"] as const).map(
      (event) => [from, event, CIRCUIT_TRANSITIONS[from][event]] as const,
    ),
  );

  it.each(rows)("are as the table says: %s, %s → %s", async (from, event, to) => {
    const parts = await inState(from);
    await acts[event](parts);
    expect(parts.breaker.state).toBe(to);
  });
});

/** The rules, written down a second time as plainly as possible: on the whole history since the last change. */
class Model {
  state: CircuitState = "closed";
  history: boolean[] = [];
  busy = 0;
  since = 0;

  readonly limits: Required<{ [K in keyof CircuitOptions]: number }>;

  constructor(limits: Model["limits"]) {
    this.limits = limits;
  }

  look(now: number): CircuitState {
    if (this.state === "open" && now - this.since >= this.limits.openMs) this.change("half_open", now);
    return this.state;
  }

  admits(now: number): boolean {
    const state = this.look(now);
    return state === "closed" || (state === "half_open" && this.busy < this.limits.trials);
  }

  ended(ok: boolean, now: number): void {
    this.history.push(ok);
    const { failures, window, failureRate, successes } = this.limits;
    if (this.state === "half_open") {
      this.busy--;
      if (!ok) this.change("open", now);
      else if (this.history.length >= successes) this.change("closed", now);
      return;
    }
    const last = this.history.slice(-window);
    const row = this.history.length >= failures && this.history.slice(-failures).every((one) => !one);
    const rate = last.length === window && last.filter((one) => !one).length / window >= failureRate;
    if (!ok && (row || rate)) this.change("open", now);
  }

  change(to: CircuitState, now: number): void {
    Object.assign(this, { state: to, history: [], busy: 0, since: now });
  }
}

describe("a circuit under any sequence of calls", () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("begin" as const) }),
    fc.record({ do: fc.constant("end" as const), which: fc.nat(20), ok: fc.boolean() }),
    fc.record({ do: fc.constant("wait" as const), ms: fc.nat(150) }),
  );
  const limits = fc.record({
    failures: fc.integer({ min: 1, max: 4 }),
    window: fc.integer({ min: 1, max: 6 }),
    failureRate: fc.constantFrom(0.25, 0.5, 1),
    openMs: fc.constant(100),
    trials: fc.integer({ min: 1, max: 2 }),
    successes: fc.integer({ min: 1, max: 3 }),
  });

  it("behaves as its rules written plainly", async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { maxLength: 80 }), async (options, steps) => {
        const { breaker, clock } = circuit(options);
        const model = new Model(options);
        // The model knows which calls began in the present state by what it notes beside them.
        let running: { admission: number; in: boolean[] }[] = [];
        for (const one of steps) {
          if (one.do === "wait") await clock.advance(one.ms);
          else if (one.do === "begin") {
            const admits = model.admits(clock.now());
            if (!admits) expect(() => breaker.admit()).toThrow(McpError);
            else {
              if (model.state === "half_open") model.busy++;
              running.push({ admission: breaker.admit(), in: model.history });
            }
          } else {
            const call = running[one.which % Math.max(1, running.length)];
            if (call === undefined) continue;
            running = running.filter((other) => other !== call);
            if (one.ok) breaker.succeeded(call.admission);
            else breaker.failed(call.admission);
            if (call.in === model.history) model.ended(one.ok, clock.now());
          }
          expect(breaker.state).toBe(model.look(clock.now()));
        }
      }),
      { numRuns: 200 },
    );
  });
});
