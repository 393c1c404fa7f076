import type { Bench, Contender, Effort } from "../contender.js";
import { loaded } from "./http-load.js";
import { residentMemory } from "./process-figures.js";

/** As many connections as keep a server busy. */
const CONNECTIONS = 32;
const SAMPLE_MS = 50;

/** How much more memory a server holds at its highest with 2 and with 10 times the connections that keep it busy. */
export async function overloadMemory(contender: Contender, effort: Effort): Promise<Bench> {
  const seconds = effort.quick ? 1 : 5;
  return {
    // A process of its own for each round: what a first overload leaves behind would make the second one look cheap.
    async round() {
      const server = await loaded(contender);
      const highest = async (times: number) => {
        let most = 0;
        const timer = setInterval(() => {
          most = Math.max(most, residentMemory(server.child.pid) ?? 0);
        }, SAMPLE_MS);
        try {
          await server.wrk(CONNECTIONS * times, seconds);
        } finally {
          clearInterval(timer);
        }
        return most;
      };
      try {
        await highest(1);
        const [once, twice, tenfold] = [await highest(1), await highest(2), await highest(10)];
        if (once === 0) return {};
        const growth = (most: number) => Math.max(0, (100 * (most - once)) / once);
        return { growth2Percent: growth(twice), growth10Percent: growth(tenfold), residentMegabytes: once };
      } finally {
        await server.close();
      }
    },
    close: async () => {},
  };
}
