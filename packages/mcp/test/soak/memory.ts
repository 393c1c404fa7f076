import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export interface Memory {
  /** Bytes of living objects. */
  readonly heap: number;
  /** Bytes that the system gave to the process. */
  readonly rss: number;
  /** The most that `rss` ever was. */
  readonly peak: number;
}

export const KILOBYTE = 1024;
export const MEGABYTE = 1024 * 1024;

let collect: (() => void) | undefined;

/** What this process holds when all that can be freed was freed. */
export async function memoryAfterCollection(): Promise<Memory> {
  // Set from within, so that a lane works in whatever process runs it.
  setFlagsFromString("--expose-gc");
  collect ??= runInNewContext("gc") as () => void;
  for (let pass = 0; pass < 2; pass++) {
    // Finalizers and closed handles let go of their objects a turn later.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  return memoryNow();
}

export function memoryNow(): Memory {
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed, rss, peak: process.resourceUsage().maxRSS * KILOBYTE };
}

/** By how much values grow from one to the next, as the line that fits them best. */
export function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let [over, under] = [0, 0];
  for (const [at, value] of values.entries()) {
    over += (at - middle) * (value - mean);
    under += (at - middle) ** 2;
  }
  return under === 0 ? 0 : over / under;
}
