import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Processor time of this process in milliseconds: what our code costs, whatever else the machine is doing. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * What `work` takes in milliseconds: the least of some rounds, which end as soon as one is within `bound`.
 *
 * Of each round the clock or the processor time counts, whichever is less: the one holds other programs of a busy machine,
 * the other holds threads that collect garbage and compile beside ours.
 */
export function leastTime(work: () => unknown, bound: number, rounds = 20): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds && least > bound; round++) {
    const [clock, processor] = [performance.now(), cpuTime()];
    work();
    least = Math.min(least, performance.now() - clock, cpuTime() - processor);
  }
  return least;
}

/** Bytes of objects and buffers, garbage included. */
export function heldBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Bytes of the objects that are still in use. */
export function liveHeapBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
