import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { buildPage } from "../../../inspector/build-page.mjs";
import type { InspectorState } from "../../../inspector/src/contract/inspector-state.js";
import { bundleParley } from "../kit/bundle-parley.js";

let bundled: Promise<string> | undefined;

/** The program with the inspector's page beside it. */
export function inspectingProgram(): Promise<string> {
  bundled ??= (async () => {
    const path = await bundleParley();
    await placePage(dirname(path));
    return path;
  })();
  return bundled;
}

/** Programs of other test files read the same page meanwhile, so that each of its files is replaced as a whole. */
async function placePage(folder: string): Promise<void> {
  const draft = join(folder, `page.${process.pid}`);
  await buildPage(draft);
  mkdirSync(join(folder, "page"), { recursive: true });
  for (const name of readdirSync(draft)) renameSync(join(draft, name), join(folder, "page", name));
  rmSync(draft, { recursive: true });
}

/** `parley inspect` in a process of its own. */
export class InspectingParley implements AsyncDisposable {
  /** When the command was given. */
  readonly began = performance.now();
  readonly process: ChildProcess;
  /** The first line of stdout. */
  readonly line: Promise<string>;
  readonly #ended: Promise<unknown>;
  #cookie: string | undefined;
  stdout = "";
  stderr = "";

  private constructor(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
    const own = { PATH: process.env["PATH"], HOME: cwd, PARLEY_HOME: join(cwd, "parley"), ...env };
    this.process = spawn(process.execPath, [...args], { cwd, env: own, stdio: "pipe" });
    this.#ended = once(this.process, "close");
    this.process.stdout?.on("data", (chunk: Buffer) => {
      this.stdout += chunk;
    });
    this.process.stderr?.on("data", (chunk: Buffer) => {
      this.stderr += chunk;
    });
    this.line = new Promise((resolve, reject) => {
      createInterface({ input: this.process.stdout ?? process.stdin }).once("line", resolve);
      this.#ended.then(() => reject(new Error(`ended: ${this.stderr}`)), reject);
    });
    this.line.catch(() => undefined);
  }

  static async start(
    args: readonly string[],
    { cwd, env = {} }: { cwd: string; env?: Readonly<Record<string, string>> },
  ): Promise<InspectingParley> {
    return new InspectingParley([await inspectingProgram(), "inspect", ...args], cwd, env);
  }

  /** The address that was printed. */
  async url(): Promise<URL> {
    return new URL(await this.line);
  }

  /** The state that a page is told first. */
  async state(): Promise<InspectorState> {
    const { origin, headers } = await this.#keys();
    const stop = new AbortController();
    const { body } = await fetch(`${origin}/api/events`, { headers, signal: stop.signal });
    let text = "";
    for await (const chunk of body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes("\n")) break;
    }
    stop.abort();
    return JSON.parse(text.slice(0, text.indexOf("\n"))).state;
  }

  /** Waits until the state is as a test wants it. */
  async until(isSo: (state: InspectorState) => boolean): Promise<InspectorState> {
    for (let tries = 0; tries < 400; tries++) {
      const state = await this.state();
      if (isSo(state)) return state;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`it never came to be: ${JSON.stringify(await this.state())}`);
  }

  /** Waits until every connection is ready. */
  connected(count: number): Promise<InspectorState> {
    return this.until(({ connections }) => connections.filter(({ status }) => status === "ready").length === count);
  }

  async act(name: string, input: object): Promise<Record<string, unknown>> {
    const { origin, headers } = await this.#keys();
    const sent = { ...headers, origin, "content-type": "application/json" };
    const response = await fetch(`${origin}/api/${name}`, {
      method: "POST",
      headers: sent,
      body: JSON.stringify(input),
    });
    const answer = (await response.json()) as { ok: boolean; value: Record<string, unknown> };
    if (answer.ok) return answer.value;
    throw new Error(JSON.stringify(answer));
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

  async #keys(): Promise<{ origin: string; headers: Record<string, string> }> {
    const url = await this.url();
    this.#cookie ??= (await fetch(url)).headers.get("set-cookie")?.split(";")[0] ?? "";
    const token = url.searchParams.get("token") ?? "";
    return { origin: url.origin, headers: { cookie: this.#cookie, "x-parley-token": token } };
  }
}
