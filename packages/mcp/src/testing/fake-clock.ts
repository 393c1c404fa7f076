import type { Platform, Timer } from "../platform/platform.js";

/** A clock for tests: time passes only when it is told to. */
export interface FakeClock {
  /** What goes into the `platform` option of a server, a client or a transport. */
  readonly platform: Pick<Platform, "now" | "timer">;
  /** Timers that are set and not yet due. */
  readonly pending: number;
  now(): number;
  /** Lets `ms` milliseconds pass: each timer runs at its own time, and what it sets off settles before the next one. */
  advance(ms: number): Promise<void>;
  /** Moves to the next timer and runs it. False when there is none. */
  next(): Promise<boolean>;
}

interface Waiting {
  readonly at: number;
  readonly run: () => void;
}

/** How deep a chain of promises may be that one timer sets off; each level costs one turn. */
const TURNS = 100;

/** Makes a clock that stands still at `start`. */
export function fakeClock(start = 0): FakeClock {
  let now = start;
  const waiting = new Set<Waiting>();
  const runFirst = async (until: number): Promise<boolean> => {
    let first: Waiting | undefined;
    // Of those due at the same time the one that was set first runs first, as sets keep their order.
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
