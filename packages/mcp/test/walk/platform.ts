// Stands for `#platform` in the instrumented bundle: Node's platform on a clock that only moves when nothing else happens.

import { platform as node } from "../../src/node/platform.js";
import type { Platform, Timer } from "../../src/platform/platform.js";
import { recorder } from "./recorder.js";

/**
 * Turns of the event loop without an event, after which only a timer can go on. Both ends of every connection are in this
 * process, so that what one writes is there for the other in its next turns, however slow the machine is.
 */
const IDLE_TURNS = 60;

interface Pending {
  readonly at: number;
  readonly run: () => void;
}

const pending = new Set<Pending>();
let time = Date.now();

export const platform: Platform = {
  ...node,
  now: () => time,
  monotonic: () => time,
  timer(ms, run): Timer {
    const timer = { at: time + ms, run };
    pending.add(timer);
    return { cancel: () => void pending.delete(timer) };
  },
};

/** Resolves when nothing happens any more, except for timers. */
export async function idle(): Promise<void> {
  let seen = -1;
  for (let quiet = 0; quiet < IDLE_TURNS; quiet++) {
    if (seen !== recorder.count) quiet = 0;
    seen = recorder.count;
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}

/** Waits for a call. Whenever nothing happens until then, the clock moves on to the next timer. */
export async function drive<T>(call: Promise<T>): Promise<T> {
  let settled = false;
  const end = () => {
    settled = true;
  };
  call.then(end, end);
  for (;;) {
    await idle();
    if (settled) return call;
    const [next] = [...pending].toSorted((a, b) => a.at - b.at);
    if (next === undefined) throw new Error("the call waits for no timer, and does not end");
    pending.delete(next);
    time = Math.max(time, next.at);
    next.run();
  }
}
