import { Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

let session: Session | undefined;

/**
 * The steps of the library that `work` takes: how often a block of its sources is entered, as the runtime counts them for
 * coverage. The same on every machine, however busy; blind to the inside of the runtime's own functions.
 */
export function countSteps(work: () => unknown): number {
  takeCounts();
  work();
  return takeCounts();
}

/** The same for work that goes on in later turns. */
export async function countStepsUntil(work: () => Promise<unknown>): Promise<number> {
  takeCounts();
  await work();
  return takeCounts();
}

function takeCounts(): number {
  if (session === undefined) {
    session = new Session();
    session.connect();
    session.post("Profiler.enable");
    session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }
  let steps = 0;
  session.post("Profiler.takePreciseCoverage", (error, coverage) => {
    if (error !== null) throw error;
    for (const { url, functions } of (coverage as Coverage).result) {
      if (!/packages\/mcp\/src\/.*(?<!\.test)\.ts$/.test(url)) continue;
      for (const { ranges } of functions) for (const { count } of ranges) steps += count;
    }
  });
  return steps;
}

/** Processor time of this process in milliseconds. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * How many times as long the larger work takes as the smaller one: the least time of each over some rounds, in turn, so that
 * both meet the same load. Ends as soon as the ratio is within `bound`: only work that grows faster never is.
 */
export function growthOf(smaller: () => unknown, larger: () => unknown, bound: number, rounds = 60): number {
  let least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as const;
  let ratio = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds && !(round >= 3 && ratio <= bound); round++) {
    least = [Math.min(least[0], timeOf(smaller)), Math.min(least[1], timeOf(larger))];
    // Less than the clocks can tell counts as what they can.
    ratio = least[1] / Math.max(least[0], 0.01);
  }
  return ratio;
}

/** Of the clock and the processor time the lesser: the one holds other programs, the other threads beside ours. */
function timeOf(work: () => unknown): number {
  const [clock, processor] = [performance.now(), cpuTime()];
  work();
  const passed = performance.now() - clock;
  // The processor time has too coarse a clock for short work, which is seldom interrupted.
  return passed < 5 ? passed : Math.min(passed, cpuTime() - processor);
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes of the objects and buffers that are still in use. */
export function liveBytes(): number {
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
