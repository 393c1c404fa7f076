// Writes each historical defect into a copy of the sources, alone, and demands that a test notices.
//
// Usage: node scripts/run-ts.mjs packages/mcp/test/mutants/main.ts [name…] [--trust-tests]
//   name           only these; the report is written when all are run
//   --trust-tests  does not look first whether the tests pass without a mutant
import { availableParallelism } from "node:os";
import { MUTANTS } from "./all-mutants.js";
import { brokenTests, runMutants, type Verdict } from "./run-mutants.js";
import { writeReport } from "./write-report.js";

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith("--"));
const chosen = names.length === 0 ? MUTANTS : MUTANTS.filter(({ name }) => names.includes(name));
const started = performance.now();
const broken = words.includes("--trust-tests") ? [] : await brokenTests(chosen, (line) => console.log(line));
const verdicts: Verdict[] = [];
const isKilled = ({ killedBy }: Verdict) => killedBy !== undefined && !broken.includes(killedBy);

/** Written after each mutant, so that a run that is ended early leaves what it has seen. */
function report(): void {
  const killed = verdicts.filter(isKilled).length;
  const seconds = Math.round((performance.now() - started) / 1000);
  const sorted = MUTANTS.flatMap(({ name }) => verdicts.find((verdict) => verdict.name === name) ?? []);
  writeReport({ mutants: MUTANTS.length, run: sorted.length, killed, brokenTests: broken, seconds, verdicts: sorted });
}

await runMutants(chosen, Math.min(3, availableParallelism() + 1), (verdict) => {
  verdicts.push(verdict);
  console.log(`${isKilled(verdict) ? "killed  " : "SURVIVES"} ${verdict.name} (${verdict.seconds} s)`);
  if (names.length === 0) report();
});
const killed = verdicts.filter(isKilled).length;
console.log(`${killed} of ${chosen.length} noticed`);
process.exitCode = killed < chosen.length ? 1 : 0;
