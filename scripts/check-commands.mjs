// Runs the commands of CONTRIBUTING.md that no other step of the test command runs, each in its shortest form.
//
// Usage: node scripts/check-commands.mjs      after `npm run build`, `npm run peers` and `npm run runtimes`
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { SHORT_FORMS } from "./contributor-commands.mjs";

const root = resolve(import.meta.dirname, "..");
const failed = [];
for (const [command, short] of Object.entries(SHORT_FORMS)) {
  const started = Date.now();
  const [program, ...args] = short.split(" ");
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: "utf8", timeout: 300_000 });
  console.log(`${status === 0 ? "runs" : "FAILS"}: ${command} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  if (status === 0) continue;
  failed.push(command);
  console.log(`${stdout}${stderr}`.trim().split("\n").slice(-30).join("\n"));
}
process.exitCode = failed.length > 0 ? 1 : 0;
