import { describe, expect, it } from "vitest";
import { RULES } from "../rules.js";
import { type FleetResult, simulateFleet } from "./simulate-fleet.js";

// A few seconds by default; the soak lane `fleet` runs many.
const SEEDS = Number(process.env.SEEDS ?? 1);
const FIRST = Number(process.env.FIRST_SEED ?? 1);
const ONE = process.env.SEED;
const FILE = "packages/mcp/test/simulation/fleet/fleet.test.ts";

function report({ seed, violations }: FleetResult): string {
  const rules = violations.slice(0, 5).map(({ rule, what, at }) => `  ${rule} (${RULES[rule]}) at ${at} ms: ${what}`);
  return [`seed ${seed} breaks rules; replay it by: SEED=${seed} npx vitest run ${FILE}`, ...rules].join("\n");
}

describe.runIf(ONE !== undefined)("one simulated fleet", () => {
  it(`keeps every rule with seed ${ONE}`, async () => {
    const result = await simulateFleet(Number(ONE), true);
    console.log(result.log?.join("\n"));
    console.log(JSON.stringify({ ...result, log: undefined }, undefined, 2));
    expect(result.violations).toEqual([]);
  }, 240_000);
});

describe.runIf(ONE === undefined)("simulated fleets of 50 nodes on 16 shards", () => {
  it(`keep every rule with ${SEEDS} seeds, and are the same events when they have the same seed`, async () => {
    const broken: string[] = [];
    const total = { events: 0, calls: 0, executions: 0, blows: 0 };
    const outcomes: Record<string, number> = {};
    const started = performance.now();
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const result = await simulateFleet(seed);
      for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += result[name];
      for (const [name, count] of Object.entries(result.outcomes)) outcomes[name] = (outcomes[name] ?? 0) + count;
      if (result.violations.length > 0) broken.push(report(result));
      if (seed === FIRST) expect((await simulateFleet(seed)).traceHash).toBe(result.traceHash);
      if (broken.length >= 10) break;
    }
    const seconds = Math.round((performance.now() - started) / 1000);
    console.log(JSON.stringify({ seeds: SEEDS, seconds, ...total, outcomes }));
    expect(broken.join("\n")).toBe("");
  }, 900_000);
});
