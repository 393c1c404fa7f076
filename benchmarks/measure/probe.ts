import { once } from "node:events";
import { createInterface } from "node:readline";
import { start, startHttp, stop } from "../child.js";
import { type Bench, type Contender, type Effort, type Figures, here } from "../contender.js";

/** Asks a program that measures itself for a round at a time. */
export async function probe(contender: Contender, effort: Effort): Promise<Bench> {
  const child = await start(contender.program, ["pipe", "pipe", "pipe"]);
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("no pipes");
  const lines = createInterface({ input: stdout });
  const ended = once(child, "exit").then(() => Promise.reject(new Error(`${contender.title} ended`)));
  // A program that ends between two rounds is told of by the next one.
  ended.catch(() => {});
  return {
    async round() {
      stdin.write(`round ${effort.roundMs}\n`);
      const [line] = await Promise.race([once(lines, "line"), ended]);
      // The program prints an object of numbers and nothing else.
      return JSON.parse(String(line)) as Figures;
    },
    close: () => stop(child),
  };
}

/** As `probe`, for clients: each gets the address of one and the same bare server. */
export function probeClient(): (contender: Contender, effort: Effort) => Promise<Bench> {
  let users = 0;
  let server: ReturnType<typeof startHttp> | undefined;
  return async (contender, effort) => {
    server ??= startHttp(here("bare-http.ts", "tuned"));
    users += 1;
    const { child, url } = await server;
    const { program } = contender;
    const bench = await probe({ ...contender, program: { ...program, args: [url, ...(program.args ?? [])] } }, effort);
    return {
      round: bench.round,
      async close() {
        await bench.close();
        users -= 1;
        if (users > 0) return;
        server = undefined;
        await stop(child);
      },
    };
  };
}
