import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { exactly, type Lane, type LaneResult, scaled } from "../lane.js";

const ROOT = resolve(import.meta.dirname, "../../../../..");
const TEST = "packages/mcp/test";

/** 20,000 seeds of the simulator, which the tests run with fewer. */
export const simulation: Lane = {
  name: "simulation",
  what: "20,000 seeds of the simulator of clients, servers and networks",
  run({ scale, say }) {
    const seeds = scaled(20_000, scale);
    const program = `${TEST}/simulation/simulation.test.ts`;
    const args = ["node_modules/vitest/vitest.mjs", "run", program];
    return started(program, args, { SEEDS: String(seeds) }, { seeds }, say);
  },
};

/** Known defects put back one at a time; the suite must notice each. */
export const mutants: Lane = {
  name: "mutants",
  what: "Historical defects put back into a copy of the code one at a time: each must turn the tests red",
  run({ say }) {
    const program = `${TEST}/mutants/main.ts`;
    return started(program, ["scripts/run-ts.mjs", program], {}, {}, say);
  },
};

/** Runs a program that judges by itself; its exit code is the result. */
async function started(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  size: Record<string, number>,
  say: (line: string) => void,
): Promise<LaneResult> {
  if (!existsSync(resolve(ROOT, program))) throw new Error(`there is no ${program}`);
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(-20_000);
  });
  const code = await new Promise<number>((done) => child.on("exit", (exit) => done(exit ?? -1)));
  for (const line of output.trim().split("\n").slice(-15)) say(line);
  const figures = output.split("\n").filter((line) => line.trim().startsWith("{"));
  return { size, measures: [exactly("exit code of the program", code, 0)], notes: figures.map((line) => line.trim()) };
}
