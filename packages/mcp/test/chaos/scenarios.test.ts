import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runLane } from "../soak/report.js";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { CHAOS_PAGE, chaosPage, readChaosReport } from "./chaos-report.js";
import { SCENARIOS } from "./scenarios.js";

describe("a fault at a small scale", () => {
  it.each(SCENARIOS)("is refused within bounds and recovered from: $name", async (scenario) => {
    const report = await runLane(scenario, { scale: 0.02, minutes: 10, bundle: bundleFixture, say() {} });
    expect(report.notes ?? []).toEqual([]);
    expect(report.measures.filter(({ kind, passed }) => kind === "count" && passed === false)).toEqual([]);
    expect(report.measures.length).toBeGreaterThan(5);
  });
});

it("the page about the faults matches the last report; `npm run chaos -- --keep` writes both", () => {
  const report = readChaosReport();
  expect(report.map(({ lane }) => lane)).toEqual(SCENARIOS.map(({ name }) => name));
  expect(report.filter(({ passed }) => !passed)).toEqual([]);
  expect(readFileSync(CHAOS_PAGE, "utf8")).toBe(chaosPage(report));
});
