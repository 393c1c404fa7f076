// Runs one TypeScript program of this repository: an example, a fixture, a benchmark.
//
// Usage: node scripts/run-ts.mjs [node options] program.ts [arguments]
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { bundleProgram } from "./bundle-ts.mjs";

const at = process.argv.findIndex((word, index) => index > 1 && !word.startsWith("-"));
const [nodeOptions, program, args] = [process.argv.slice(2, at), process.argv[at], process.argv.slice(at + 1)];
if (at < 0 || !existsSync(program)) {
  console.error(`run-ts: there is no program at ${program ?? "(none named)"}`);
  process.exit(2);
}

const child = spawn(process.execPath, ["--enable-source-maps", ...nodeOptions, await bundleProgram(program), ...args], {
  stdio: "inherit",
});
// A supervisor signals the process it started; without the relay the program would outlive this one.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
