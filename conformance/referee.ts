import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const peers = join(import.meta.dirname, "../packages/mcp/test/peers/node_modules");
const runtimes = join(import.meta.dirname, "../packages/mcp/test/runtimes/node_modules");
/** The referee needs a newer Node than the library; the code under test runs on the current one. */
const node = join(runtimes, "node22/bin/node");
const referee = join(peers, "@modelcontextprotocol/conformance/dist/index.js");

/** One check as the referee reports it. */
export interface Check {
  id: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  description?: string;
  errorMessage?: string;
}

/** What one run of the referee gave: its exit code, and the checks of every scenario that it ran. */
export interface RefereeRun {
  exitCode: number;
  output: string;
  scenarios: Map<string, Check[]>;
}

/**
 * Runs the referee once; a run that hangs is ended after `timeoutMs`, with everything that it started. `hear` is called with all that
 * it has said so far, each time that it says more.
 */
export async function runReferee(
  args: readonly string[],
  timeoutMs: number,
  hear?: (said: string) => void,
): Promise<RefereeRun> {
  const folder = mkdtempSync(join(tmpdir(), "parley-conformance-"));
  try {
    const { exitCode, output } = await execute([...args, "-o", folder], timeoutMs, hear);
    return { exitCode, output, scenarios: readScenarios(folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The names of a list that the referee prints, by role. */
export async function listScenarios(args: readonly string[]): Promise<{ server: string[]; client: string[] }> {
  const { output } = await execute(["list", ...args], 30_000);
  const lists = { server: [] as string[], client: [] as string[] };
  let into: string[] | undefined;
  for (const line of output.split("\n")) {
    if (/^Server scenarios/.test(line)) into = lists.server;
    else if (/^Client scenarios/.test(line)) into = lists.client;
    else if (/^\S/.test(line)) into = undefined;
    const name = /^\s+-\s+(\S+)/.exec(line)?.[1];
    if (name !== undefined) into?.push(name);
  }
  return lists;
}

function execute(
  args: readonly string[],
  timeoutMs: number,
  hear?: (said: string) => void,
): Promise<{ exitCode: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(node, [referee, ...args], { detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
      hear?.(output);
    });
    child.stderr.on("data", (chunk) => {
      output += chunk;
    });
    // The referee signals only the shell of a client, so a hung one is ended as a group.
    const watchdog = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), timeoutMs);
    child.on("close", (code) => {
      clearTimeout(watchdog);
      resolve({ exitCode: code ?? 1, output });
    });
  });
}

/** The folders are named for role, scenario and time; the scenario may itself be a path. */
function readScenarios(folder: string): Map<string, Check[]> {
  const found = new Map<string, Check[]>();
  for (const entry of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!entry.endsWith("checks.json") || !statSync(join(folder, entry)).isFile()) continue;
    const name = entry
      .replace(/[/\\]checks\.json$/, "")
      .replace(/-\d{4}-\d\d-\d\dT.*$/, "")
      .replace(/^server-(?=.)/, "");
    found.set(name, JSON.parse(readFileSync(join(folder, entry), "utf8")) as Check[]);
  }
  return found;
}
