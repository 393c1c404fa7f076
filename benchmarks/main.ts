// Measures Parley beside its peers and beside bare programs.
//
// Usage: npm run bench [-- filter…] [--rounds N] [--quick] [--check] [--keep]
//   filter    only rows whose id or suite contains it; `types` stands for what the compiler needs, `bounds` for the times that
//             users of the command line and the inspector wait for at most
//   --rounds  rounds of one second per row; at least 7 for figures that are published, 15 without this option
//   --quick   short rounds that only show that everything works
//   --check   compares with the committed file and fails when something got worse
//   --keep    writes the result file although only some rows were measured; the others stay as they are
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { regressions } from "./check.js";
import { ROOT } from "./child.js";
import type { Effort } from "./contender.js";
import { thisMachine, versions } from "./machine.js";
import { type Results, type RowResult, summarise } from "./results.js";
import { rowText } from "./rows/row-text.js";
import { ROWS } from "./rows/rows.js";
import { runSuite } from "./run-suite.js";
import { SUITES } from "./suites/suites.js";

const RESULTS = join(ROOT, "benchmarks/results/benchmarks.json");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "15" },
    quick: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
  },
});
const quick = values.quick;
const effort: Effort = { rounds: quick ? 2 : Number(values.rounds), roundMs: quick ? 300 : 1000, quick };
const isWanted = (id: string) => positionals.length === 0 || positionals.some((filter) => id.includes(filter));
const wanted = ROWS.filter(({ id, suite }) => isWanted(id) || isWanted(suite));
if (wanted.length === 0 && !isWanted("types") && !isWanted("bounds")) {
  console.error(`no row has such an id; rows are ${ROWS.map(({ id }) => id).join(", ")}`);
  process.exit(2);
}

execFileSync("bash", [join(ROOT, "scripts/bench-packages.sh")], { stdio: "inherit" });
for (const folder of ["peers", "runtimes"]) {
  execFileSync("npm", ["run", "--silent", folder], { cwd: ROOT, stdio: "inherit" });
}

const committed: Results | undefined = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, "utf8")) : undefined;
const loadAtStart = loadavg()[0] ?? 0;
const writes = !values.check && !quick && (positionals.length === 0 || values.keep);
const rows: RowResult[] = [];
await measureAll();

if (values.check) process.exitCode = compare();
if (isWanted("bounds") && !quick) checkBounds();
if (writes) console.log("\nwritten; `npm run bench:report` renews the documents");
if (writes && isWanted("types")) {
  execFileSync(process.execPath, [join(ROOT, "scripts/measure-types.mjs"), "--write"], { cwd: ROOT, stdio: "inherit" });
}

async function measureAll(): Promise<void> {
  for (const suite of SUITES) {
    const own = wanted.filter((row) => row.suite === suite.id);
    if (own.length === 0) continue;
    console.log(`\n${suite.id}`);
    const result = await runSuite(suite, effort);
    for (const row of own) {
      const summary = summarise(row, suite, result, new Date().toISOString());
      console.log(rowText(summary));
      rows.push(summary);
    }
    // At once, so that a run that is ended early keeps what it has.
    if (writes) write();
  }
}

/** Tests of elapsed time, which need a machine that does nothing else. */
function checkBounds(): void {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const { status } = spawnSync(process.execPath, [vitest, "run", "--config", "benchmarks/bounds.config.ts"], {
    cwd: ROOT,
    stdio: "inherit",
  });
  if (status !== 0) process.exitCode = 1;
}

function compare(): number {
  if (committed === undefined) {
    console.error("there is no committed file to compare with");
    return 1;
  }
  const worse = regressions(rows, committed.rows);
  for (const sentence of worse) console.error(sentence);
  console.log(worse.length === 0 ? "nothing got worse" : `${worse.length} figures got worse`);
  return worse.length === 0 ? 0 : 1;
}

/** Writes what was measured; rows that were not are kept from the committed file. */
function write(): void {
  const kept = ROWS.flatMap(({ id }) => {
    const row = rows.find((one) => one.id === id) ?? committed?.rows.find((one) => one.id === id);
    return row === undefined ? [] : [row];
  });
  const results: Results = {
    machine: thisMachine(),
    versions: versions(),
    loadAtStart,
    date: new Date().toISOString(),
    rows: kept,
  };
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
}
