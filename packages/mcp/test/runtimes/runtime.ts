import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Bundle, bundleProgram, bundleWorker } from "./bundle-cases.js";
import type { CellOutcome } from "./run-cells.js";

const run = promisify(execFile);
const RUN_MS = 600_000;

/** A runtime other than the one that runs the tests. */
export interface Runtime {
  readonly name: string;
  readonly binary: string;
  /** Absent when its package is not installed for this machine. */
  readonly installed: boolean;
  /** Runs cases by their file names over every transport that the runtime has. */
  run(files: readonly string[]): Promise<CellOutcome[]>;
}

/** Every runtime, by the path of its binary: what lies in `.bin` would shadow the shell's `node`. */
export const RUNTIMES: readonly Runtime[] = [
  program("Node 22", "node22/bin/node", []),
  program("Node 24", "node24/bin/node", []),
  program("Bun", "@oven/bun-linux-x64/bin/bun", []),
  program("Deno", "@deno/linux-x64-glibc/deno", ["run", "--allow-all", "--quiet"]),
  worker("workerd", "@cloudflare/workerd-linux-64/bin/workerd"),
];

function place(path: string): { binary: string; installed: boolean } {
  const binary = fileURLToPath(new URL(`./node_modules/${path}`, import.meta.url));
  return { binary, installed: existsSync(binary) };
}

function program(name: string, path: string, words: readonly string[]): Runtime {
  const { binary, installed } = place(path);
  return {
    name,
    binary,
    installed,
    async run(files) {
      const bundle = await bundleProgram(files);
      try {
        const args = [...words, bundle.file, JSON.stringify(words)];
        const { stdout } = await run(binary, args, { timeout: RUN_MS, maxBuffer: 64 * 1024 * 1024 });
        return outcomesIn(stdout);
      } finally {
        bundle.remove();
      }
    },
  };
}

function worker(name: string, path: string): Runtime {
  const { binary, installed } = place(path);
  return {
    name,
    binary,
    installed,
    async run(files) {
      const bundle = await bundleWorker(files);
      const child = startWorker(binary, bundle);
      try {
        const signal = AbortSignal.timeout(RUN_MS);
        const response = await fetch(`http://127.0.0.1:${await portOf(child)}/`, { signal });
        return outcomesIn(await response.text());
      } finally {
        child.kill("SIGKILL");
        bundle.remove();
      }
    },
  };
}

/** Starts a worker on a port that `portOf` tells. */
export function startWorker(binary: string, bundle: Bundle): ChildProcess {
  const config = join(bundle.folder, "config.capnp");
  writeFileSync(config, CONFIG);
  // The fourth descriptor is where it tells which port it was given.
  return spawn(binary, ["serve", config, "--control-fd=3"], { stdio: ["ignore", "inherit", "inherit", "pipe"] });
}

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-10-01",
);
`;

/** The port that a worker was given. */
export async function portOf(child: ChildProcess): Promise<number> {
  const control = child.stdio[3];
  if (control === null || control === undefined || !("setEncoding" in control)) throw new Error("no control channel");
  control.setEncoding("utf8");
  let told = "";
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the runtime ended with ${code}`);
  });
  while (!told.includes("\n")) {
    const [chunk] = (await Promise.race([once(control, "data"), ended])) as [string];
    told += chunk;
  }
  ended.catch(() => {});
  return (JSON.parse(told.slice(0, told.indexOf("\n"))) as { port: number }).port;
}

function outcomesIn(text: string): CellOutcome[] {
  const line = text.split("\n").find((one) => one.startsWith('{"outcomes"'));
  if (line === undefined) throw new Error(`the program gave no outcomes: ${text.slice(0, 2000)}`);
  return (JSON.parse(line) as { outcomes: CellOutcome[] }).outcomes;
}
