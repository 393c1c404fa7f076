import { commandOf, nextLine, start, stop } from "../child.js";
import { type Bench, type Contender, here } from "../contender.js";
import { residentMemory } from "./process-figures.js";

/** Whatever the start left to be done is done after this long. */
const REST_MS = 2_000;

/** Memory of a program that has said that it is ready and rests; of its own process alone, without those that it started. */
export async function idleMemory({ program }: Contender): Promise<Bench> {
  const [server = ""] = await commandOf(here("parley-stdio.ts"));
  return {
    async round() {
      const child = await start({ ...program, args: [...(program.args ?? []), server] }, ["ignore", "pipe", "pipe"]);
      try {
        const line = await nextLine(child, (text) => text.startsWith("ready ") || text === "failed", 120_000);
        if (line === "failed") throw new Error("not all servers are ready");
        await new Promise((resolve) => setTimeout(resolve, REST_MS));
        const residentMegabytes = residentMemory(child.pid);
        return residentMegabytes === undefined ? {} : { residentMegabytes };
      } finally {
        await stop(child);
      }
    },
    close: async () => {},
  };
}
