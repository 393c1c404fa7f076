import type { RequestListener } from "node:http";

/** How often something was done, and how long one took. */
export interface Pace {
  perSecond: number;
  micros: number;
  /** Processor time of this process for one. */
  cpuMicros: number;
}

/** Looks at the clock and at the processor time of this process. */
export function startWatch(): { elapsed(): number; pace(calls: number): Pace };

/** Answers each `round` on stdin with what `run(ms)` gives; ends with stdin. */
export function answerRounds(run: (ms: number) => object | Promise<object>): void;

/** Calls `act` again and again for about `ms`, one call after the other. */
export function repeat(ms: number, act: () => unknown): Promise<Pace>;

/** As `repeat`, for work that never waits; `act(batch)` does about `batch` operations and says how many it did. */
export function repeatNow(ms: number, batch: number, act: (batch: number) => number): Pace;

/** Keeps `width` calls in flight for about `ms`. */
export function inFlight(ms: number, width: number, act: () => Promise<unknown>): Promise<Pace>;

/** Serves `handler` on a free loopback port, says where, and answers questions about the heap. */
export function listen(handler: RequestListener): void;

/** Says where this program is served, and answers questions about the heap. */
export function listening(url: string): void;
