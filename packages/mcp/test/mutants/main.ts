// Writes each historical defect into a copy of the sources, alone, and demands that a test notices.
//
// Usage: node scripts/run-ts.mjs packages/mcp/test/mutants/main.ts [name…] [--trust-tests]
//   name           only these; the report is written when all are run
//   --trust-tests  does not look first whether the tests pass without a mutant
import { availableParallelism } from "node:os";
import { MUTANTS } from "./all-mutants.js";
import { brokenTests, runMutants } from "./run-mutants.js";
import { writeReport } from "./write-report.js";

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith("--"));
const chosen = names.length === 0 ? MUTANTS : MUTANTS.filter(({ name }) => names.includes(name));
const tell = (line: string) => console.log(line);
const started = performance.now();
const broken = words.includes("--trust-tests") ? [] : await brokenTests(chosen, tell);
const verdicts = await runMutants(chosen, Math.min(2, availableParallelism()), tell);
const survivors = verdicts.filter(({ killedBy }) => killedBy === undefined || broken.includes(killedBy));
const killed = verdicts.length - survivors.length;
const seconds = Math.round((performance.now() - started) / 1000);
console.log(`${killed} of ${verdicts.length} noticed in ${seconds} s`);
if (names.length === 0) writeReport({ mutants: verdicts.length, killed, brokenTests: broken, seconds, verdicts });
process.exitCode = survivors.length > 0 ? 1 : 0;
