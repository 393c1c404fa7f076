import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { resolve } from "node:path";

/** The program that `npm run build` makes. */
export const BUILT = resolve(import.meta.dirname, "../../dist/parley.js");
export const isBuilt = existsSync(BUILT);
if (!isBuilt) console.log("tests of processes are skipped: the command line is not built, see `npm run build`");

/** A command line in a process of its own. */
export class BuiltParley implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly #ended: Promise<unknown>;
  stderr = "";
  stdout = "";

  constructor(args: readonly string[], options: { cwd: string; env?: Readonly<Record<string, string>> }) {
    const env = { PATH: process.env["PATH"], HOME: options.cwd, ...options.env };
    this.process = spawn(process.execPath, [BUILT, ...args], { cwd: options.cwd, env, stdio: "pipe" });
    this.#ended = once(this.process, "close");
    this.process.stdout?.on("data", (chunk: Buffer) => {
      this.stdout += chunk;
    });
    this.process.stderr?.on("data", (chunk: Buffer) => {
      this.stderr += chunk;
    });
  }

  async told(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.stderr)) {
      const chunk = await Promise.race([
        this.#ended.then(() => undefined),
        once(this.process.stderr ?? this.process, "data"),
      ]);
      if (chunk === undefined && !pattern.test(this.stderr)) throw new Error(`ended: ${this.stderr}`);
    }
  }

  /** Sends a signal, and gives the exit code, or the signal that killed it. */
  async end(signal: NodeJS.Signals): Promise<number | string | null> {
    this.process.kill(signal);
    return this.ended();
  }

  async ended(): Promise<number | string | null> {
    await this.#ended;
    return this.process.exitCode ?? this.process.signalCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) await this.end("SIGKILL");
  }
}
