// Lets servers crash while clients go on calling, and counts what becomes of every call.
//
// Usage: npm run demo:chaos [-- --seconds n]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ChaosRun } from "./chaos-run.js";
import { orphansOf } from "./orphans.js";
import { serveStruck } from "./struck-process.js";

const SERVE = "serve";
const STRIKE_MS = 100;
const LINE_MS = 500;

const [command, ...given] = process.argv.slice(2);
if (command === SERVE) await serveStruck(given[0] ?? "", given[1] ?? "");
else await demonstrate();

async function demonstrate(): Promise<void> {
  const { values } = parseArgs({ options: { seconds: { type: "string", default: "20" } } });
  const seconds = Number(values.seconds);
  if (!(seconds >= 1 && seconds <= 3600)) {
    console.error("usage: npm run demo:chaos [-- --seconds 1…3600]");
    process.exitCode = 2;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "parley-chaos-"));
  try {
    process.exitCode = (await strikeFor(seconds, folder)) ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether nothing was lost, done twice or left behind. */
async function strikeFor(seconds: number, folder: string): Promise<boolean> {
  console.log(
    "Let it crash: 10 servers of one host, on pipes, ports, HTTP and in worker processes, are struck down while 10 callers call.\n",
  );
  // This very program is the server on pipes too.
  const program = [process.argv[1] ?? "", SERVE];
  const workers = new URL("./worker-tool.mjs", import.meta.url);
  const run = await ChaosRun.start({ folder, program, workers, each: 3, callers: 2, restMs: 5, random: Math.random });
  run.call();
  const since = performance.now();
  const striking = setInterval(() => run.strike(), STRIKE_MS);
  const showing = setInterval(() => show(run, since), LINE_MS);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  clearInterval(striking);
  await run.rest();
  clearInterval(showing);
  show(run, since);
  await run.close();
  return report(run, await orphansOf(run.pids()));
}

function show({ ledger, strikes, restarts }: ChaosRun, since: number): void {
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  const line = `${seconds.padStart(6)} s  struck ${strikes}  restarted ${restarts}  calls ${ledger.made}  answered ${ledger.answered}  refused ${ledger.refused}  under way ${ledger.pending}`;
  // A terminal shows the newest line in place of the last one.
  if (process.stdout.isTTY) process.stdout.write(`\r${line.padEnd(process.stdout.columns ?? 0)}`);
  else console.log(line);
}

function report({ ledger, times, strikes, restarts, strays }: ChaosRun, orphans: readonly number[]): boolean {
  const { made, answered, refused, lost, duplicated, repeated } = ledger.counts();
  const reasons = Object.entries(refused).map(([kind, count]) => `${kind} ${count}`);
  const lines: [string, number, string?][] = [
    ["servers struck", strikes],
    ["restarts", restarts],
    ["calls made", made],
    ["answered", answered],
    ["refused", ledger.refused, reasons.join(", ")],
    ["run twice", repeated, "lost with their server and sent again, of tools that change nothing"],
    ["lost", lost],
    ["duplicated", duplicated + strays],
    ["processes left", orphans.length],
  ];
  console.log("");
  for (const [name, count, note = ""] of lines) {
    console.log(`${name.padEnd(16)}${String(count).padStart(8)}${note === "" ? "" : `   (${note})`}`);
  }
  console.log(`\nFrom the blow to the next answer:\n${times}`);
  return lost + duplicated + strays + orphans.length === 0 && answered > 0;
}
