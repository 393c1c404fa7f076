import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { exactly, figure, type Lane, type LaneResult, type LaneSettings, scaled, told } from "../lane.js";

const ROOT = resolve(import.meta.dirname, "../../../../..");
const SIMULATION = "packages/mcp/test/simulation/simulation.test.ts";
const TASKS = "packages/mcp/test/simulation/tasks/tasks.test.ts";
const MUTANTS = "packages/mcp/test/mutants/main.ts";
const FLEET = "packages/mcp/test/simulation/fleet/fleet.test.ts";
const WIDTH = 2;
/** No chunk begins that would not end this long before the lane must. */
const RESERVE_MS = 30_000;

/** The simulator of the tests with many more seeds. */
export const simulation: Lane = {
  name: "simulation",
  what: "20,000 seeds of the simulator of clients, servers and networks",
  run: (settings) => runSeeds(settings, SIMULATION, 20_000, 1_000),
};

/** The simulator of tasks on processes that die, with many more seeds. */
export const taskSimulation: Lane = {
  name: "task-simulation",
  what: "4,000 seeds of simulated tasks on processes that die, stand still and come back",
  run: (settings) => runSeeds(settings, TASKS, 4_000, 200),
};

/** The simulator of many nodes and shards, with many seeds. */
export const fleet: Lane = {
  name: "fleet",
  what: "120 seeds of 50 simulated nodes on a storage of 16 shards, with skewed keys, dying nodes, and slow and dying shards",
  run: (settings) => runSeeds(settings, FLEET, 120, 15),
};

/** Runs a simulator in processes of `chunk` seeds, two at once. */
async function runSeeds(
  { scale, minutes, say }: LaneSettings,
  program: string,
  full: number,
  chunk: number,
): Promise<LaneResult> {
  requireFile(program);
  const budget = minutes * 60_000 - RESERVE_MS;
  const seeds = scaled(full, scale);
  const since = performance.now();
  let [next, done, broken, longest] = [0, 0, 0, 0];
  const notes: string[] = [];
  const work = async () => {
    while (next < seeds && performance.now() - since + longest < budget) {
      const first = next + 1;
      const count = Math.min(chunk, seeds - next);
      next += count;
      const begun = performance.now();
      const { code, output } = await run(["node_modules/vitest/vitest.mjs", "run", program], say, {
        SEEDS: String(count),
        FIRST_SEED: String(first),
      });
      longest = Math.max(longest, performance.now() - begun);
      done += count;
      if (code !== 0) broken++;
      notes.push(...new Set(output.match(/seed \d+ breaks rules[^\n]*/g) ?? []));
      say(`seeds ${first} to ${first + count - 1}: ${code === 0 ? "kept every rule" : "FAILED"}`);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, work));
  return {
    size: { seeds: done },
    measures: [
      exactly(`seeds run within ${minutes} minutes`, done, seeds),
      exactly(`runs of up to ${figure(chunk)} seeds that broke a rule`, broken, 0),
      told("time", "seeds per second", (done * 1000) / (performance.now() - since), "/s"),
    ],
    // Each with the command that replays it.
    notes,
  };
}

/** Known defects put back one at a time. */
export const mutants: Lane = {
  name: "mutants",
  what: "Historical defects put back into a copy of the code one at a time: each must turn the tests red",
  async run({ say }) {
    requireFile(MUTANTS);
    const { code } = await run(["scripts/run-ts.mjs", MUTANTS], say);
    return { size: {}, measures: [exactly("exit code of the program", code, 0)] };
  },
};

function requireFile(program: string): void {
  if (!existsSync(resolve(ROOT, program))) throw new Error(`there is no ${program}`);
}

/** Runs a program that judges by itself and gives its exit code; what it said is shown when it fails. */
async function run(
  args: readonly string[],
  say: LaneSettings["say"],
  env: Record<string, string> = {},
): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-20_000);
    });
  }
  const end = () => child.kill("SIGTERM");
  process.once("exit", end);
  const code = await new Promise<number>((done) => child.on("close", (exit) => done(exit ?? -1)));
  process.off("exit", end);
  if (code !== 0) for (const line of output.trim().split("\n").slice(-40)) say(line);
  return { code, output };
}
