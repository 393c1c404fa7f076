import { describe, expect, it } from "vitest";
import { RULES } from "../rules.js";
import { simulateTasks, type TaskSimulationResult } from "./simulate-tasks.js";

// About fifteen seconds by default, so that every change can be tried; `npm run soak -- task-simulation` runs 4,000.
const SEEDS = Number(process.env.SEEDS ?? 120);
const FIRST = Number(process.env.FIRST_SEED ?? 1);
const ONE = process.env.SEED;
const FILE = "packages/mcp/test/simulation/tasks/tasks.test.ts";

function report({ seed, violations }: TaskSimulationResult): string {
  const rules = violations.slice(0, 5).map(({ rule, what, at }) => `  ${rule} (${RULES[rule]}) at ${at} ms: ${what}`);
  return [`seed ${seed} breaks rules; replay it by: SEED=${seed} npx vitest run ${FILE}`, ...rules].join("\n");
}

describe.runIf(ONE !== undefined)("one simulated run of tasks", () => {
  it(`keeps every rule with seed ${ONE}`, async () => {
    const result = await simulateTasks(Number(ONE), true);
    console.log(result.log?.join("\n"));
    console.log(JSON.stringify({ ...result, log: undefined }, undefined, 2));
    expect(result.violations).toEqual([]);
  }, 240_000);
});

describe.runIf(ONE === undefined)("simulated runs of tasks on several processes", () => {
  it("are the same events when they have the same seed", async () => {
    for (let seed = FIRST; seed < FIRST + 10; seed++) {
      const [first, second] = [await simulateTasks(seed), await simulateTasks(seed)];
      expect(second.traceHash).toBe(first.traceHash);
      expect(second.events).toBe(first.events);
    }
  }, 240_000);

  it(`keep every rule with ${SEEDS} seeds`, async () => {
    const broken: string[] = [];
    const total = { events: 0, tasks: 0, executions: 0, takenOver: 0 };
    const outcomes: Record<string, number> = {};
    const started = performance.now();
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const result = await simulateTasks(seed);
      for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += result[name];
      for (const [name, count] of Object.entries(result.outcomes)) outcomes[name] = (outcomes[name] ?? 0) + count;
      if (result.violations.length > 0) broken.push(report(result));
      if (broken.length >= 10) break;
    }
    const seconds = Math.round((performance.now() - started) / 1000);
    console.log(JSON.stringify({ seeds: SEEDS, seconds, ...total, outcomes }));
    expect(broken.join("\n")).toBe("");
  }, 900_000);
});
