import { readdirSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import type { EraName } from "../../src/protocol/revisions.js";
import { runCell } from "./run-cell.js";
import { exclusion, type Scenario } from "./scenario.js";
import { TRANSPORTS } from "./transports/all.js";

const files = readdirSync(new URL("./cases/", import.meta.url)).filter((file) => file.endsWith(".ts"));
const scenarios = await Promise.all(
  files.map(async (file) => {
    const module = (await import(/* @vite-ignore */ `./cases/${file}`)) as { default: Scenario<never> };
    return { file, one: module.default };
  }),
);
const only = process.env["SCENARIO"];
const chosen = scenarios.filter(({ file }) => only === undefined || file.includes(only));
const left: string[] = [];
let ran = 0;

for (const transport of TRANSPORTS) {
  for (const era of ["stateful", "stateless"] as const) {
    const cells = chosen.filter(({ one }) => applies(one, transport.name, era));
    // A group without tests would count as a failure.
    if (cells.length === 0) continue;
    describe(`${transport.name}, ${era}`, () => {
      for (const { file, one } of cells) {
        it(title(one), () => {
          ran++;
          return runCell(transport, era, file, one);
        });
      }
    });
  }
}

describe("the grid", () => {
  it("has one sentence per scenario and a reason for every cell that is left out", () => {
    const names = scenarios.map(({ one }) => one.name);
    expect(new Set(names).size).toBe(names.length);
    for (const line of left) expect(line).toMatch(/left out: .{15,}/);
  });
});

afterAll(() => {
  console.log(
    `scenarios: ${scenarios.length} × ${TRANSPORTS.length} transports × 2 eras; ${ran} cells run, ${left.length} left out`,
  );
  for (const line of left) console.log(`  ${line}`);
});

function applies(one: Scenario<never>, transport: string, era: EraName): boolean {
  const reason = exclusion(one, transport, era);
  if (reason !== undefined) left.push(`${transport}/${era}: "${one.name}" is left out: ${reason}`);
  return reason === undefined;
}

function title({ name, ids = [] }: Scenario<never>): string {
  return ids.length === 0 ? name : `${name} (${ids.join(", ")})`;
}
