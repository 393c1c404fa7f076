import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import type { Lane } from "./lane.js";
import { calls } from "./lanes/calls.js";
import { host } from "./lanes/host.js";
import { registry } from "./lanes/registry.js";
import { resume } from "./lanes/resume.js";
import { sessions } from "./lanes/sessions.js";
import { streams } from "./lanes/streams.js";
import { tasks } from "./lanes/tasks.js";
import { readReports, runLane } from "./report.js";
import { PAGE, tableOf } from "./report-table.js";

/** Small enough for every run of the tests; what is judged is that nothing is lost or mixed up, not memory and time. */
const TINY: [Lane, number][] = [
  [calls, 0.001],
  [streams, 0.003],
  [sessions, 0.005],
  [resume, 0.004],
  [tasks, 0.1],
  [registry, 0.01],
  [host, 0.02],
];

describe("a soak lane at a tiny scale", () => {
  it.concurrent.each(TINY)(
    "counts right: $name",
    async (lane, scale) => {
      const report = await runLane(lane, { scale, minutes: 10, bundle: bundleFixture, say() {} });
      expect(report.notes?.join() ?? "").not.toContain("did not come to its end");
      const counts = report.measures.filter(({ kind, bar }) => kind === "count" && bar !== undefined);
      expect(counts.length).toBeGreaterThan(2);
      expect(counts.filter(({ passed }) => passed !== true)).toEqual([]);
      expect(tableOf([report])).toContain(`## ${lane.name}: `);
    },
    120_000,
  );
});

it("the page about the lanes says what their reports say; `npm run soak -- report` writes it anew", () => {
  expect(readFileSync(PAGE, "utf8")).toBe(tableOf(readReports()));
});
