import type { Platform, Timer } from "../platform/platform.js";

/** A clock for tests: time passes only by `advance` and `next`. */
export interface FakeClock {
  /** The value for the `platform` option of a server, a client or a transport. */
  readonly platform: Pick<Platform, "now" | "monotonic" | "timer">;
  /** The number of pending timers. */
  readonly pending: number;
  now(): number;
  /** Lets `ms` milliseconds pass: each timer runs at its time, and its promise jobs settle before the next timer. */
  advance(ms: number): Promise<void>;
  /** Advances to the next timer and runs it. Returns false if there is none. */
  next(): Promise<boolean>;
}

interface Waiting {
  readonly at: number;
  readonly run: () => void;
}

/** The longest chain of promises that one timer may start; each link takes one turn. */
const TURNS = 100;

/** Makes a clock that is stopped at `start`. */
export function fakeClock(start = 0): FakeClock {
  let now = start;
  const waiting = new Set<Waiting>();
  const runFirst = async (until: number): Promise<boolean> => {
    let first: Waiting | undefined;
    // Of timers due at the same time, the first one set runs first, because a Set keeps its order.
    for (const one of waiting) if (one.at <= until && (first === undefined || one.at < first.at)) first = one;
    if (first === undefined) return false;
    waiting.delete(first);
    now = Math.max(now, first.at);
    first.run();
    await settled();
    return true;
  };
  return {
    platform: {
      now: () => now,
      monotonic: () => now,
      timer(ms, run): Timer {
        const one: Waiting = { at: now + ms, run };
        waiting.add(one);
        return { cancel: () => void waiting.delete(one) };
      },
    },
    get pending() {
      return waiting.size;
    },
    now: () => now,
    async advance(ms) {
      const end = now + ms;
      await settled();
      while (await runFirst(end));
      now = end;
    },
    next: () => runFirst(Number.POSITIVE_INFINITY),
  };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await undefined;
}
