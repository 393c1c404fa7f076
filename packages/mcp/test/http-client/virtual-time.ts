import { platform as real } from "../../src/node/platform.js";
import type { Platform } from "../../src/platform/platform.js";

interface Pending {
  at: number;
  run: () => void;
}

/** The real platform with a clock that moves only when told; sockets stay real. */
export interface VirtualTime {
  platform: Platform;
  now(): number;
  /** How many timers are pending. */
  pending(): number;
  /** Moves the clock to the next timer, at most `limit` milliseconds ahead, and runs it. False when there is none. */
  next(limit?: number): boolean;
}

/** `random` gives the share of every jittered wait, from 0 to 1. */
export function virtualTime(random = 1): VirtualTime {
  let now = 1_000_000;
  const timers = new Set<Pending>();
  return {
    platform: {
      ...real,
      now: () => now,
      monotonic: () => now,
      timer(ms, run) {
        const timer = { at: now + ms, run };
        timers.add(timer);
        return { cancel: () => void timers.delete(timer) };
      },
      randomBytes: (count) => new Uint8Array(count).fill(Math.round(random * 255)),
    },
    now: () => now,
    pending: () => timers.size,
    next(limit = Number.POSITIVE_INFINITY) {
      const first = [...timers].sort((a, b) => a.at - b.at)[0];
      if (first === undefined || first.at > now + limit) return false;
      timers.delete(first);
      now = Math.max(now, first.at);
      first.run();
      return true;
    },
  };
}

/** Lets real I/O happen until `done` holds. Bounded: fails after `turns` turns of the event loop, each at least a millisecond. */
export async function until(done: () => boolean, turns = 20_000): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    if (done()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error("what the test waits for did not happen");
}
