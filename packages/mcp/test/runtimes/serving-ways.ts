import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundleServing } from "./bundle-cases.js";
import { portOf, RUNTIMES, startWorker } from "./runtime.js";

const run = promisify(execFile);
const START_MS = 60_000;
const BUILD_MS = 150_000;
const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** A handler that a runtime serves, and how to stop it. */
export interface Serving {
  readonly url: string;
  close(): Promise<void>;
}

/** One of the ways in which a runtime takes a handler. */
export interface ServingWay {
  readonly name: string;
  readonly installed: boolean;
  serve(): Promise<Serving>;
}

const NEXT = path("node_modules/next/dist/bin/next");
const APP = path("serving/next-app");
const ADDRESS = { ...process.env, DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0", NEXT_TELEMETRY_DISABLED: "1" };

/** Every way that the guides show, with the programs as the guides write them. */
export const SERVING_WAYS: readonly ServingWay[] = [
  ofRuntime("Bun", "export default { fetch }", ["run", path("serving/exported.mjs")]),
  ofRuntime("Bun", "Bun.serve({ fetch })", ["run", path("serving/bun-serve.mjs")]),
  ofRuntime("Deno", "export default { fetch }", [
    "serve",
    "--allow-all",
    "--host=127.0.0.1",
    "--port=0",
    path("serving/exported.mjs"),
  ]),
  ofRuntime("Deno", "Deno.serve(handler)", ["run", "--allow-all", path("serving/deno-serve.mjs")]),
  { name: "workerd: export default { fetch }", installed: binaryOf("workerd").installed, serve: serveWorker },
  { name: "Next: export const POST", installed: existsSync(NEXT), serve: serveNext },
];

function binaryOf(name: string) {
  const runtime = RUNTIMES.find((one) => one.name === name);
  if (runtime === undefined) throw new Error(`no runtime is called ${name}`);
  return runtime;
}

function ofRuntime(name: string, way: string, args: readonly string[]): ServingWay {
  const { binary, installed } = binaryOf(name);
  return { name: `${name}: ${way}`, installed, serve: () => serveProgram(binary, args) };
}

async function serveWorker(): Promise<Serving> {
  const bundle = await bundleServing();
  const child = startWorker(binaryOf("workerd").binary, bundle);
  const close = async () => {
    await end(child);
    bundle.remove();
  };
  try {
    return { url: `http://127.0.0.1:${await portOf(child)}/mcp`, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function serveNext(): Promise<Serving> {
  await run(process.execPath, [NEXT, "build"], { cwd: APP, env: ADDRESS, timeout: BUILD_MS });
  return serveProgram(process.execPath, [NEXT, "start", "--port=0", "--hostname=127.0.0.1"], APP);
}

/** Starts a program that prints its address. */
async function serveProgram(binary: string, args: readonly string[], cwd?: string): Promise<Serving> {
  const child = spawn(binary, args, { cwd, env: ADDRESS, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  const address = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      printed += chunk;
      const origin = /http:\/\/(127\.0\.0\.1|localhost):[1-9]\d*/.exec(printed)?.[0];
      if (origin !== undefined) resolve(origin);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", (code) => reject(new Error(`${binary} ended with ${code}: ${printed}`)));
    child.once("error", reject);
    setTimeout(() => reject(new Error(`${binary} told no address: ${printed}`)), START_MS).unref();
  });
  try {
    return { url: `${await address}/mcp`, close: () => end(child) };
  } catch (error) {
    await end(child);
    throw error;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
