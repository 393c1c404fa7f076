import { performance } from "node:perf_hooks";
import { eachLine, start, stop } from "../child.js";
import type { Bench, Contender, Effort } from "../contender.js";
import { assertSum, requestText } from "../messages.js";
import { firstAnswer } from "./pipe-load.js";

/** How long one call computes; a person notices it. */
const BUSY_MS = 700;
/** Calls of one round, one after the other. */
const CALLS = 3;

/** How long a ping takes over a pipe while a tool computes without a pause. */
export async function pingWhileBusy(contender: Contender, effort: Effort): Promise<Bench> {
  const child = await start(contender.program, ["pipe", "pipe", "pipe"]);
  const { stdin, stdout } = child;
  try {
    if (stdin === null || stdout === null) throw new Error("no pipes");
    assertSum(await firstAnswer(child, "2025"), contender.title);
    stdout.removeAllListeners("data");
  } catch (error) {
    await stop(child);
    throw error;
  }
  const waiting = new Map<number, () => void>();
  eachLine(stdout, (line) => {
    const { id } = JSON.parse(line) as { id: number };
    waiting.get(id)?.();
    waiting.delete(id);
  });
  let id = 10_000;
  const ask = (method: string, params: object) =>
    new Promise<void>((resolve) => {
      waiting.set(++id, resolve);
      stdin.write(`${requestText("2025", id, method, params)}\n`);
    });
  const compute = (ms: number) => ask("tools/call", { name: "busy", arguments: { ms } });
  return {
    async round() {
      const micros: number[] = [];
      for (let call = 0; call < (effort.quick ? 1 : CALLS); call++) {
        let computing = true;
        const computed = compute(effort.quick ? BUSY_MS / 7 : BUSY_MS).then(() => {
          computing = false;
        });
        while (computing) {
          const since = performance.now();
          await ask("ping", {});
          micros.push((performance.now() - since) * 1000);
        }
        await computed;
      }
      micros.sort((a, b) => a - b);
      return { p99Micros: micros[Math.ceil(micros.length * 0.99) - 1] ?? 0 };
    },
    close: () => stop(child),
  };
}
