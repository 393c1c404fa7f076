// Runs the soak lanes: loads and faults that are too long for the tests, each under ten minutes.
//
// Usage: npm run build && npm run soak [-- lane…] [--scale N | --quick] [--minutes N]
//   lane     only these; all without one. `report` writes docs/internals/soak.md out of the reports instead.
//   --scale  a part of the full size, for trying; reports are written at full size only, or with --keep
//   --quick  the same as --scale 0.05
//   --minutes  what a lane may take on a machine that others use as well; its report names it. Default 10
//   --keep   writes the report whatever the size
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundleProgram } from "../../../../scripts/bundle-ts.mjs";
import { LANES } from "./lanes.js";
import { LONGEST_MINUTES, runLane, writeReport } from "./report.js";
import { measureText, writeTable } from "./report-table.js";

const QUICK = 0.05;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scale: { type: "string", default: "1" },
    minutes: { type: "string", default: String(LONGEST_MINUTES) },
    keep: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
  },
});
const scale = values.quick ? QUICK : Number(values.scale);
const minutes = Number(values.minutes);
const unknown = positionals.filter((name) => name !== "report" && LANES.every((lane) => lane.name !== name));
if (unknown.length > 0 || !(scale > 0 && scale <= 1 && minutes >= 1 && minutes <= 120)) {
  console.error(
    `usage: npm run soak [-- lane…] [--scale 0…1] [--minutes 1…120]; lanes are ${LANES.map(({ name }) => name).join(", ")}`,
  );
  process.exit(2);
}

if (positionals.includes("report")) writeTable();
else await runAll();

async function runAll(): Promise<void> {
  const wanted = LANES.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  for (const lane of wanted) {
    console.log(`\n${lane.name}: ${lane.what}`);
    const report = await runLane(lane, {
      scale,
      minutes,
      bundle: (program) => bundleProgram(fileURLToPath(program)),
      say: (line) => console.log(`  ${line}`),
    });
    for (const measure of report.measures) console.log(`  ${measureText(measure)}`);
    for (const note of report.notes ?? []) console.log(`  ${note}`);
    console.log(`  ${report.passed ? "passed" : "FAILED"} in ${report.seconds} s at scale ${scale}`);
    if (scale === 1 || values.keep) writeReport(report);
    if (!report.passed) process.exitCode = 1;
    if (report.seconds >= minutes * 60) process.exit(1);
  }
}
