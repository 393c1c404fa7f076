// The whole test command: every step runs, whatever came before, and is printed in order; the last line is `N passed, N failed`.
//
// Steps that mostly wait run beside others; what they print is kept until it is their turn. Nothing runs beside the tests.
// A step counts as one, the test files by their tests. No test is repeated when it fails.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
let passed = 0;
let failed = 0;
const failures = [];

step("Node is the shell's", isShellsNode);
await sideBySide(
  [
    ["lint", npm("lint")],
    ["typecheck", npm("typecheck")],
    ["knip", npm("knip")],
    ["build", npm("build")],
  ],
  [
    ["peers", npm("peers")],
    ["runtimes", npm("runtimes")],
    ["registry", npm("registry")],
  ],
);
// With coverage, which costs about half more processor time; the others measure, or run what it would not count.
vitest("tests, and coverage", ["shared", "alone"], "--coverage");
vitest("tests that measure or start programs", ["apart"]);
await sideBySide([["conformance", npm("conformance")]], [["package", npm("check:package")]]);
// Alone, because some of them build once more.
await sideBySide([["commands", (print) => command(process.execPath, ["scripts/check-commands.mjs"], print)]], []);

for (const name of failures) console.log(`failed: ${name}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

function step(name, run) {
  console.log(`\n== ${name}`);
  const started = Date.now();
  count(name, run());
  console.log(`== ${name}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

function count(name, ok) {
  if (ok) passed += 1;
  else {
    failed += 1;
    failures.push(name);
  }
}

/** Runs a row of steps in order, and another row at the same time, which is printed after it. */
async function sideBySide(row, other) {
  const kept = inOrder(other, (run) => keptOutput(run));
  await inOrder(
    row,
    async (run, name) => {
      console.log(`\n== ${name}`);
      return { ok: await run((chunk) => process.stdout.write(chunk)), output: "" };
    },
    told,
  );
  for (const ended of await kept) {
    console.log(`\n== ${ended.name}`);
    told(ended);
  }
}

async function inOrder(row, perform, after = () => {}) {
  const all = [];
  for (const [name, run] of row) {
    const started = Date.now();
    const ended = { name, ...(await perform(run, name)), seconds: (Date.now() - started) / 1000 };
    after(ended);
    all.push(ended);
  }
  return all;
}

async function keptOutput(run) {
  const chunks = [];
  const ok = await run((chunk) => chunks.push(chunk));
  return { ok, output: Buffer.concat(chunks) };
}

function told({ name, ok, output, seconds }) {
  process.stdout.write(output);
  count(name, ok);
  console.log(`== ${name}: ${seconds.toFixed(1)} s`);
}

function npm(script) {
  return (print) => command("npm", ["run", "--silent", script], print);
}

/** Runs a program; resolves with whether it ended well. */
function command(program, args, print) {
  return new Promise((resolve) => {
    // On Windows npm is a script of the shell.
    const child = spawn(program, args, { cwd: root, shell: process.platform === "win32" && program === "npm" });
    child.stdin.end();
    child.stdout.on("data", print);
    child.stderr.on("data", print);
    child.on("error", (error) => print(Buffer.from(`${error.message}\n`)));
    child.on("close", (code) => resolve(code === 0));
  });
}

function isNpms(folder) {
  return /node_modules[\\/]\.bin$/.test(folder) || folder.endsWith("node-gyp-bin");
}

/** npm puts `node_modules/.bin` before everything else on the path, where a package could shadow `node`. */
function isShellsNode() {
  const shellPath = (process.env.PATH ?? "").split(delimiter).filter((folder) => !isNpms(folder));
  const env = { ...process.env, PATH: shellPath.join(delimiter) };
  const shells = spawnSync("node", ["-v"], { env, encoding: "utf8" }).stdout?.trim();
  console.log(`running on ${process.version}, the shell has ${shells}`);
  return shells === process.version;
}

/** Runs the test files of some projects, and counts their tests. */
function vitest(name, projects, ...more) {
  console.log(`\n== ${name}`);
  const started = Date.now();
  const report = join(root, `node_modules/.cache/parley/vitest-${projects[0]}.json`);
  mkdirSync(dirname(report), { recursive: true });
  rmSync(report, { force: true });
  const reporters = ["default", "json"].map((reporter) => `--reporter=${reporter}`);
  const args = [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    ...projects.map((one) => `--project=${one}`),
    ...more,
    ...reporters,
  ];
  const { status } = spawnSync(process.execPath, [...args, `--outputFile.json=${report}`], {
    cwd: root,
    stdio: "inherit",
  });
  if (existsSync(report)) countTests(name, JSON.parse(readFileSync(report, "utf8")), status);
  else count(`${name}: no report was written`, false);
  console.log(`== ${name}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

function countTests(name, result, status) {
  const brokenFiles = result.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  passed += result.numPassedTests;
  failed += result.numFailedTests + brokenFiles.length;
  failures.push(...brokenFiles.map((file) => file.name));
  for (const file of result.testResults) {
    failures.push(...file.assertionResults.filter((test) => test.status === "failed").map((test) => test.fullName));
  }
  const left = result.numPendingTests + result.numTodoTests;
  if (left > 0) console.log(`${left} tests were skipped`);
  // An unhandled rejection fails the run without failing a test, and so does a coverage below its threshold.
  if (status !== 0 && result.numFailedTests + brokenFiles.length === 0) {
    count(`${name}: errors outside any test, or too few lines covered`, false);
  }
}
