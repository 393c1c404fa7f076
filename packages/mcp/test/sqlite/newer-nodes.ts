import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { RUNTIMES } from "../runtimes/runtime.js";

const run = promisify(execFile);

/** The Nodes beside the one that runs the tests, which has no SQLite itself. */
export const NEWER_NODES = RUNTIMES.filter(({ name }) => name.startsWith("Node "));
for (const { name, installed } of NEWER_NODES)
  if (!installed) console.log(`sqlite: ${name} is not installed (npm run runtimes); nothing was tried on it`);

/** Runs a bundled program to its end and returns what it printed, line by line. */
export async function runNode(binary: string, args: readonly string[]): Promise<string[]> {
  const { stdout } = await run(binary, ["--disable-warning=ExperimentalWarning", ...args], { timeout: 60_000 });
  return stdout.trim().split("\n");
}
