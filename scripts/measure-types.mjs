// Measures what a large server costs the compiler: a chain of 100 tools and 300 tools as values, with TypeScript 5.9 and 7.
//
// Usage: node scripts/measure-types.mjs [--check] [--write]
//   --check  fails when a budget is broken; --write keeps the figures in benchmarks/results/types.json
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const folder = join(root, "node_modules/.cache/parley/types");
const compilers = { 5.9: "typescript/lib/tsc.js", 7: "typescript-7/bin/tsc" };
/** Seconds by compiler and megabytes: what editors and CI can bear. */
const budget = { 5.9: { seconds: 3, megabytes: 300 }, 7: { seconds: 1, megabytes: 300 } };

const definition = (at) =>
  `"tool${at}", { input: z.object({ a: z.string(), b: z.number(), c: z.boolean().optional(), d: z.enum(["x", "y"]) }), ` +
  `output: z.object({ p: z.string(), q: z.number(), r: z.array(z.string()) }) }, ({ a, b }) => ({ p: a, q: b, r: ["${at}"] })`;
const header = `import { connect, Server, tool } from "@parley/mcp";\nimport { z } from "zod";\n`;
const range = (count) => Array.from({ length: count }, (_, at) => at);

const programs = {
  "chain of 100 tools": `${header}export const server = new Server({ name: "s", version: "1" })\n${range(100)
    .map((at) => `  .tool(${definition(at)})`)
    .join(
      "\n",
    )};\nconst client = await connect(server);\n(await client.call("tool99", { a: "", b: 1, d: "x" })).q.toFixed();\n`,
  "300 tools as values": `${header}${range(300)
    .map((at) => `const tool${at} = tool(${definition(at)});`)
    .join("\n")}\nexport const server = new Server({ name: "s", version: "1" }).add(${range(300)
    .map((at) => `tool${at}`)
    .join(
      ", ",
    )});\nconst client = await connect(server);\n(await client.call("tool299", { a: "", b: 1, d: "x" })).q.toFixed();\n`,
};

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
const rows = [];
for (const [name, text] of Object.entries(programs)) {
  const file = join(folder, `${name.replaceAll(" ", "-")}.ts`);
  writeFileSync(file, text);
  for (const version of ["5.9", "7"]) rows.push({ program: name, typescript: version, ...measure(version, file) });
}
for (const row of rows) {
  const verdict = withinBudget(row) ? "" : "  OVER BUDGET";
  console.log(`${row.program}, TypeScript ${row.typescript}: ${row.seconds} s, ${row.megabytes} MB${verdict}`);
}
if (process.argv.includes("--write")) {
  const machine = {
    node: process.version,
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
  };
  writeFileSync(join(root, "benchmarks/results/types.json"), `${JSON.stringify({ machine, budget, rows }, null, 2)}\n`);
}
if (process.argv.includes("--check") && !rows.every(withinBudget)) process.exit(1);

/** The median of three runs, as the compiler itself reports them. */
function measure(version, file) {
  const runs = range(3).map(() => diagnose(version, file));
  runs.sort((a, b) => a.seconds - b.seconds);
  return runs[1];
}

function diagnose(version, file) {
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    target: "es2022",
    module: "nodenext",
    types: [],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }));
  const compiler = join(root, "node_modules", compilers[version]);
  const output = execFileSync(process.execPath, [compiler, "-p", folder, "--extendedDiagnostics"], {
    encoding: "utf8",
  });
  const number = (label) => Number(new RegExp(`${label}:\\s*([\\d.]+)`).exec(output)?.[1] ?? Number.NaN);
  return {
    seconds: number("Check time"),
    totalSeconds: number("Total time"),
    megabytes: Math.round(number("Memory used") / 1000),
    instantiations: number("Instantiations"),
  };
}

function withinBudget({ typescript, seconds, megabytes }) {
  return seconds <= budget[typescript].seconds && megabytes <= budget[typescript].megabytes;
}
