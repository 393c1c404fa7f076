import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { LaneReport } from "../soak/report.js";
import { reportSection } from "../soak/report-table.js";

/** Where the page about the faults is. */
export const CHAOS_PAGE = fileURLToPath(new URL("../../../../docs/internals/chaos.md", import.meta.url));
const REPORT = fileURLToPath(new URL("./report.json", import.meta.url));

const HEAD = `# Injected faults

Eleven faults, each injected for real while clients call: processes are killed, networks stop forwarding, memory and storage run
out. A scenario passes when every call is answered right or refused with the expected kind, and the next calls are answered.
\`npm run chaos\` runs all of them, \`npm run chaos -- process-crash\` one; \`--keep\` writes this page and
\`packages/mcp/test/chaos/report.json\`. The test command runs each at a small scale.
`;

/** The reports of the last kept run, one for each scenario. */
export function readChaosReport(): LaneReport[] {
  // Written by `writeChaosReport`.
  return JSON.parse(readFileSync(REPORT, "utf8")) as LaneReport[];
}

/** The page that the reports give. */
export function chaosPage(reports: readonly LaneReport[]): string {
  return [HEAD, ...reports.map(reportSection)].join("\n");
}

export function writeChaosReport(reports: readonly LaneReport[]): void {
  writeFileSync(REPORT, `${JSON.stringify(reports, null, 2)}\n`);
  writeFileSync(CHAOS_PAGE, chaosPage(reports));
}
