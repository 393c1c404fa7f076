// Injects eleven faults, one after the other, and reports how each was refused and recovered from.
//
// Usage: npm run chaos [-- scenario…] [--scale 0…1] [--keep]
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundleProgram } from "../../../../scripts/bundle-ts.mjs";
import { type LaneReport, runLane } from "../soak/report.js";
import { measureText } from "../soak/report-table.js";
import { writeChaosReport } from "./chaos-report.js";
import { SCENARIOS } from "./scenarios.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { scale: { type: "string", default: "1" }, keep: { type: "boolean", default: false } },
});
const scale = Number(values.scale);
const unknown = positionals.filter((name) => SCENARIOS.every((scenario) => scenario.name !== name));
if (unknown.length > 0 || !(scale > 0 && scale <= 1)) {
  console.error(
    `usage: npm run chaos [-- scenario…] [--scale 0…1] [--keep]; scenarios are ${SCENARIOS.map(({ name }) => name).join(", ")}`,
  );
  process.exit(2);
}

const reports: LaneReport[] = [];
for (const scenario of SCENARIOS) {
  if (positionals.length > 0 && !positionals.includes(scenario.name)) continue;
  console.log(`\n${scenario.name}: ${scenario.what}`);
  const report = await runLane(scenario, {
    scale,
    minutes: 10,
    bundle: (program) => bundleProgram(fileURLToPath(program)),
    say: (line) => console.log(`  ${line}`),
  });
  for (const measure of report.measures) console.log(`  ${measureText(measure)}`);
  for (const note of report.notes ?? []) console.log(`  ${note}`);
  reports.push(report);
}
const passed = reports.filter((report) => report.passed).length;
console.log(`\n${passed} of ${reports.length} scenarios passed`);
if (values.keep && positionals.length === 0) writeChaosReport(reports);
process.exitCode = passed === reports.length ? 0 : 1;
