// Writes each historical defect into a copy of the sources, alone, and demands that a test notices.
//
// Usage: node scripts/run-ts.mjs packages/mcp/test/mutants/main.ts [name…] [--trust-tests]
//   name           only these; the report keeps what it says of the others
//   --trust-tests  does not look first whether the tests pass without a mutant
import { availableParallelism } from "node:os";
import { MUTANTS } from "./all-mutants.js";
import { brokenTests, runMutants, type Verdict } from "./run-mutants.js";
import { readVerdicts, writeReport } from "./write-report.js";

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith("--"));
const chosen = names.length === 0 ? MUTANTS : MUTANTS.filter(({ name }) => names.includes(name));
const broken = words.includes("--trust-tests") ? [] : await brokenTests(chosen, (line) => console.log(line));
const verdicts = new Map(names.length === 0 ? [] : readVerdicts().map((verdict) => [verdict.name, verdict] as const));
const isKilled = ({ killedBy }: Verdict) => killedBy !== undefined && !broken.includes(killedBy);

const NOT_RUN: Verdict = { name: "", recreates: "", file: "", seconds: 0 };

/** Written after each mutant, so that a run that is ended early leaves what it has seen. */
function report(): void {
  const sorted = MUTANTS.flatMap(({ name }) => verdicts.get(name) ?? []);
  const killed = sorted.filter(isKilled).length;
  const seconds = sorted.reduce((total, verdict) => total + verdict.seconds, 0);
  writeReport({ mutants: MUTANTS.length, run: sorted.length, killed, brokenTests: broken, seconds, verdicts: sorted });
}

await runMutants(chosen, Math.min(3, availableParallelism() + 1), (verdict) => {
  verdicts.set(verdict.name, verdict);
  console.log(`${isKilled(verdict) ? "killed  " : "SURVIVES"} ${verdict.name} (${verdict.seconds} s)`);
  report();
});
const killed = chosen.filter(({ name }) => isKilled(verdicts.get(name) ?? NOT_RUN)).length;
console.log(`${killed} of ${chosen.length} noticed`);
process.exitCode = killed < chosen.length ? 1 : 0;
