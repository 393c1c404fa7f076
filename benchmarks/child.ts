import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { bundleProgram } from "../scripts/bundle-ts.mjs";
import type { Program } from "./contender.js";

export const ROOT = resolve(import.meta.dirname, "..");
export const PEERS = join(ROOT, "packages/mcp/test/peers");

const RUNTIMES = join(ROOT, "packages/mcp/test/runtimes/node_modules");

/** The Node that runs a program. Throws when it is not installed. */
export function nodeOf({ runtime }: Program): string {
  if (runtime === undefined) return process.execPath;
  const binary = join(RUNTIMES, runtime, "bin/node");
  if (!existsSync(binary)) throw new Error(`${runtime} is not installed for this machine (npm run runtimes)`);
  return binary;
}

/** The arguments for Node that run a program. */
export async function commandOf(program: Program): Promise<string[]> {
  const { owner, file, args = [], node = [] } = program;
  const path =
    owner === "here" ? await bundleProgram(join(import.meta.dirname, "programs", file)) : join(PEERS, "programs", file);
  return [...node, path, ...args];
}

/** Starts a program. What it says on stderr is shown only when it fails. */
export async function start(program: Program, stdio: StdioOptions): Promise<ChildProcess> {
  const child = spawn(nodeOf(program), await commandOf(program), {
    stdio,
    env: { ...process.env, NODE_ENV: "production" },
  });
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-2000);
  });
  child.on("exit", (code) => {
    if (code !== 0 && code !== null) console.error(`${program.file} ended with ${code}\n${errors}`);
  });
  return child;
}

/** Calls back for each line of a stream. */
export function eachLine(stream: NodeJS.ReadableStream, line: (text: string) => void): void {
  let rest = "";
  // No encoding is set: whoever reads the stream later may want bytes.
  stream.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) line(text);
  });
}

/** The next line that `wanted` accepts; rejects when the program ends first or takes longer than `ms`. */
export function nextLine(child: ChildProcess, wanted: (line: string) => boolean, ms = 30_000): Promise<string> {
  const { stdout } = child;
  if (stdout === null) return Promise.reject(new Error("the program's output is not a pipe"));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no line within ${ms} ms`)), ms);
    child.once("exit", () => reject(new Error("the program ended")));
    eachLine(stdout, (line) => {
      if (!wanted(line)) return;
      clearTimeout(timer);
      resolve(line);
    });
  });
}

/** Ends a program, by force when it does not leave on its own. */
export function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const force = setTimeout(() => child.kill("SIGKILL"), 1000);
    child.once("exit", () => {
      clearTimeout(force);
      resolve();
    });
    child.kill("SIGTERM");
  });
}

/** Starts a program that serves HTTP and says where. */
export async function startHttp(program: Program): Promise<{ child: ChildProcess; url: string }> {
  const child = await start(program, ["ignore", "pipe", "pipe", "ipc"]);
  const line = await nextLine(child, (text) => text.startsWith("listening "));
  return { child, url: line.slice("listening ".length).trim() };
}
