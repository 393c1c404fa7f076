import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { start, stop } from "../child.js";
import type { Bench, Contender, Effort } from "../contender.js";
import { assertSum, callText } from "../messages.js";
import { firstAnswer } from "./pipe-load.js";

/** Calls of one round; one is sent when the one before is answered. */
const CALLS = 1000;

/** How long one call over a pipe takes while no other is under way. */
export async function pipeLatency(contender: Contender, effort: Effort): Promise<Bench> {
  const { era = "2025" } = contender;
  const child = await start(contender.program, ["pipe", "pipe", "pipe"]);
  const { stdin, stdout } = child;
  try {
    if (stdin === null || stdout === null) throw new Error("no pipes");
    assertSum(await firstAnswer(child, era), contender.title);
    stdout.removeAllListeners("data");
  } catch (error) {
    await stop(child);
    throw error;
  }
  const calls = Array.from({ length: CALLS }, (_, at) => `${callText(era, 10_000 + at)}\n`);
  return {
    async round() {
      const micros: number[] = [];
      for (const call of calls.slice(0, effort.quick ? 100 : CALLS)) {
        const since = performance.now();
        stdin.write(call);
        await answered(stdout);
        micros.push((performance.now() - since) * 1000);
      }
      micros.sort((a, b) => a - b);
      const at = (share: number) => micros[Math.ceil(micros.length * share) - 1] ?? 0;
      return { p50Micros: at(0.5), p95Micros: at(0.95), p99Micros: at(0.99) };
    },
    close: () => stop(child),
  };
}

/** One answer is one line. */
async function answered(stdout: NodeJS.ReadableStream): Promise<void> {
  for (;;) {
    const [chunk] = (await once(stdout, "data")) as [Buffer];
    if (chunk.at(-1) === 0x0a) return;
  }
}
