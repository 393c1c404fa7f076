import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { bundleProgram } from "../scripts/bundle-ts.mjs";
import { judgeAuthorization, NOT_FOLLOWED } from "./authorization.js";
import { listScenarios, runReferee } from "./referee.js";
import { judge, SHOWN_BY_OWN_TESTS, type Verdict } from "./verdict.js";

const REQUIREMENT_SETS = ["2025-11-25", "2026-07-28"];
const only = process.argv[2];

/** Scenarios beyond the requirement sets: added after the sets were frozen, of an older revision, or of an extension. */
const FURTHER: readonly [version: string | undefined, prefix: string][] = [
  ["2025-11-25", "json-schema-2020-12-preservation"],
  ["2026-07-28", "json-schema-2020-12-preservation"],
  ["2025-03-26", "auth/2025-03-26-"],
  [undefined, "auth/client-credentials-"],
  [undefined, "auth/enterprise-managed-"],
  [undefined, "auth/dpop"],
  [undefined, "auth/wif-"],
  [undefined, "sep-2640-client-"],
];

const serverProgram = await bundleProgram(join(import.meta.dirname, "everything-server.ts"));
const clientProgram = await bundleProgram(join(import.meta.dirname, "everything-client.ts"));
const verdicts: Verdict[] = [
  ...(await judgeServer()),
  ...(await judgeClient()),
  ...(await judgeAuthorization()).filter(({ scenario }) => (only ?? scenario) === scenario),
];

const failed = verdicts.filter(({ problems }) => problems.length > 0);
for (const { leg, scenario, problems } of failed) console.log(`✗ ${leg} ${scenario}\n    ${problems.join("\n    ")}`);
for (const [name, reason] of Object.entries(SHOWN_BY_OWN_TESTS)) console.log(`own tests show ${name}: ${reason}`);
for (const [id, reason] of Object.entries(NOT_FOLLOWED))
  console.log(`not followed, authorization server, ${id}: ${reason}`);
if (only === undefined) {
  const known = await listScenarios([]);
  console.log(`\n--suite all: server ${greenOf("server", known.server)}, client ${greenOf("client", known.client)}`);
}
console.log(
  `conformance: ${verdicts.length - failed.length} of ${verdicts.length} scenario runs pass (no failure, no warning)`,
);
console.log(`${verdicts.length - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length === 0 && verdicts.length > 0 ? 0 : 1);

/** Both requirement sets and the whole suite against one server process. */
async function judgeServer(): Promise<Verdict[]> {
  const server = spawn(process.execPath, [serverProgram], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const url = await firstLine(server.stdout);
    const legs: [string, string[]][] = [
      ...REQUIREMENT_SETS.map((set): [string, string[]] => [`server ${set}`, ["--requirements", set]]),
      ["server all", ["--suite", "all"]],
    ];
    const all: Verdict[] = [];
    for (const [leg, args] of legs) {
      const chosen = only === undefined ? args : ["--scenario", only];
      const { scenarios, output } = await runReferee(["server", "--url", url, ...chosen], 180_000);
      if (scenarios.size === 0 && only === undefined)
        all.push({ leg, scenario: "(all)", problems: [`the referee ran nothing: ${output.slice(-500)}`] });
      for (const [name, checks] of scenarios) all.push(judge(leg, name, checks));
      if (only !== undefined) break;
    }
    return all;
  } finally {
    server.kill();
  }
}

/** Each scenario alone, because only then the referee looks at the client's exit code. */
async function judgeClient(): Promise<Verdict[]> {
  const runs: [version: string | undefined, name: string][] = [];
  for (const set of REQUIREMENT_SETS) {
    const { client } = await listScenarios(["--requirements", set]);
    runs.push(...client.map((name): [string, string] => [set, name]));
  }
  const { client: known } = await listScenarios([]);
  for (const [version, prefix] of FURTHER) {
    runs.push(
      ...known.filter((name) => name.startsWith(prefix)).map((name): [string | undefined, string] => [version, name]),
    );
  }
  const chosen = runs.filter(([, name]) => (only ?? name) === name);
  return inParallel(chosen, ([version, name]) => judgeClientOnce(version, name));
}

/** A few at a time, each on ports of its own; the results are in the order of the inputs. */
async function inParallel<T, R>(inputs: readonly T[], run: (input: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = inputs.entries();
  const worker = async () => {
    for (const [at, input] of waiting) results[at] = await run(input);
  };
  await Promise.all(Array.from({ length: availableParallelism() + 1 }, worker));
  return results;
}

async function judgeClientOnce(version: string | undefined, name: string): Promise<Verdict> {
  const on = version === undefined ? [] : ["--spec-version", version];
  const args = ["client", "--command", `${process.execPath} ${clientProgram}`, "--scenario", name, ...on];
  const { exitCode, scenarios, output } = await runReferee(args, 60_000);
  const verdict = judge(`client ${version ?? "extension"}`, name, [...scenarios.values()].flat());
  if (exitCode !== 0) verdict.problems.push(`the referee ended with ${exitCode}: ${output.slice(-800)}`);
  return verdict;
}

/** Of all scenarios that the referee knows for a role, those that were attempted and passed in every run. */
function greenOf(role: "server" | "client", known: readonly string[]): string {
  const runsOf = (name: string) => verdicts.filter(({ leg, scenario }) => leg.startsWith(role) && scenario === name);
  const green = known.filter(
    (name) => runsOf(name).length > 0 && runsOf(name).every((run) => run.problems.length === 0),
  );
  return `${green.length}/${known.length}`;
}

function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    stream.on("data", (chunk) => {
      text += chunk;
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    });
    stream.on("end", () => reject(new Error("the server ended before it told its address")));
  });
}
