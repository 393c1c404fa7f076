import type { ChildProcess } from "node:child_process";
import type { Bench, Contender, Effort } from "../contender.js";
import { heapOf } from "./heap.js";
import { loaded } from "./http-load.js";

/** Stretches of one round, each measured for itself. */
const STRETCHES = 6;
const STRETCH_SECONDS = 5;

/** How much slower a server is after 30 s of load than at their beginning, and how much more heap it holds. */
export async function sustainedLoad(contender: Contender, effort: Effort): Promise<Bench> {
  const server = await loaded(contender, { node: ["--expose-gc"] });
  const seconds = effort.quick ? 1 : STRETCH_SECONDS;
  return {
    async round() {
      const before = await restedHeap(server.child);
      const rates: number[] = [];
      for (let at = 0; at < STRETCHES; at++) rates.push((await server.wrk(32, seconds)).perSecond);
      const after = await restedHeap(server.child);
      return {
        perSecond: mean(rates),
        declinePercent: Math.max(0, -100 * slope(rates)),
        heapGrowthPercent: Math.max(0, (100 * (after - before)) / before),
      };
    },
    close: server.close,
  };
}

/** Connections that were closed hold memory until their timers end. */
async function restedHeap(child: ChildProcess): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return heapOf(child);
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** By what part of their mean the values rise from the first to the last, along the line that fits them best. */
function slope(values: readonly number[]): number {
  const [middle, average] = [(values.length - 1) / 2, mean(values)];
  const top = values.reduce((sum, value, at) => sum + (at - middle) * (value - average), 0);
  const bottom = values.reduce((sum, _, at) => sum + (at - middle) ** 2, 0);
  return ((top / bottom) * (values.length - 1)) / average;
}
