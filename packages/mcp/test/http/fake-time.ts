import { platform as real } from "../../src/node/platform.js";
import type { Platform } from "../../src/platform/platform.js";

/** The real platform with a clock that a test moves by hand. */
export interface FakeTime {
  platform: Platform;
  /** Moves the clock, running each timer at its time. */
  advance(ms: number): void;
  /** Sets the wall clock, as an operator or a time server does; no time passes. */
  jump(ms: number): void;
  /** How many timers are pending. */
  pending(): number;
  warnings: string[];
}

export function fakeTime(): FakeTime {
  let now = 1_000_000;
  let jumped = 0;
  const timers = new Set<{ at: number; run: () => void }>();
  const warnings: string[] = [];
  return {
    warnings,
    platform: {
      ...real,
      now: () => now + jumped,
      monotonic: () => now,
      timer(ms, run) {
        const timer = { at: now + ms, run };
        timers.add(timer);
        return { cancel: () => void timers.delete(timer) };
      },
      warn: (message) => void warnings.push(message),
    },
    jump(ms) {
      jumped += ms;
    },
    pending: () => timers.size,
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const [first] = [...timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at);
        if (first === undefined) break;
        timers.delete(first);
        now = Math.max(now, first.at);
        first.run();
      }
      now = end;
    },
  };
}
