import type { Platform, Timer } from "../platform/platform.js";

/** A clock for tests. Time passes only by `advance` and `next`. */
export interface FakeClock {
  /** The value for the `platform` option of a server, a client or a transport. */
  readonly platform: Pick<Platform, "now" | "monotonic" | "timer">;
  /** The number of pending timers. */
  readonly pending: number;
  /** Returns the current time in milliseconds, which begins at the `start` of `fakeClock`. */
  now(): number;
  /** Lets `ms` milliseconds pass. Each timer runs at its time, and its promise jobs settle before the next timer. */
  advance(ms: number): Promise<void>;
  /** Advances to the next timer and runs it. Returns false if there is no timer. */
  next(): Promise<boolean>;
}

interface PendingTimer {
  readonly at: number;
  readonly run: () => void;
}

/** Maximum length of a promise chain that settles before the next timer. Each link takes one microtask turn. */
const MAX_TURNS = 100;

/**
 * Creates a clock that is stopped at `start`, in milliseconds.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function fakeClock(start = 0): FakeClock {
  let now = start;
  const timers = new Set<PendingTimer>();
  // Runs the earliest timer that is due by `until`. Returns false if no timer is due.
  const runFirst = async (until: number): Promise<boolean> => {
    let first: PendingTimer | undefined;
    // Of timers due at the same time, the one that was set first runs first, because a Set is ordered by insertion.
    for (const one of timers) if (one.at <= until && (first === undefined || one.at < first.at)) first = one;
    if (first === undefined) return false;
    timers.delete(first);
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
        const one: PendingTimer = { at: now + ms, run };
        timers.add(one);
        return { cancel: () => void timers.delete(one) };
      },
    },
    get pending() {
      return timers.size;
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
  for (let turn = 0; turn < MAX_TURNS; turn++) await undefined;
}
