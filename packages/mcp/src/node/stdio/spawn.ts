import type * as ChildProcess from "node:child_process";
import type { ChildEvents, ChildHandle, SpawnOptions } from "../../platform/platform.js";
import { builtin } from "../builtin.js";
import { endWithThisProcess } from "./exit-guard.js";

type Child = ChildProcess.ChildProcessByStdio<
  import("node:stream").Writable,
  import("node:stream").Readable,
  import("node:stream").Readable
>;

/** Asked when it is needed: this file is loaded where there is no process at all, to say so in plain words. */
const isWindows = () => process.platform === "win32";

/**
 * Starts a child process on Node, without a shell.
 *
 * On POSIX the child leads its own process group, so that one signal reaches all that it starts. What is left of the
 * group ends with this process, as far as this process still can act.
 */
export function spawn(options: SpawnOptions): ChildHandle {
  let child: Child;
  try {
    child = start(options);
  } catch (error) {
    // Bad arguments (a NUL byte, an impossible `cwd` type) throw at once; callers hear of all failures in one way.
    return failedChild(error instanceof Error ? error : new Error(String(error)));
  }
  return new NodeChild(child);
}

function start({ command, args, env, cwd }: SpawnOptions): Child {
  const settings = {
    env: { ...env },
    ...(cwd === undefined ? {} : { cwd }),
    detached: !isWindows(),
    windowsHide: true,
    stdio: ["pipe", "pipe", "pipe"] satisfies ChildProcess.StdioOptions,
  };
  // Windows starts `.cmd` files only by way of cmd.exe, whose quoting cross-spawn knows.
  if (isWindows()) return crossSpawn()(command, [...args], settings) as Child;
  return builtin("node:child_process").spawn(command, [...args], settings) as Child;
}

function crossSpawn(): typeof ChildProcess.spawn {
  const require = builtin("node:module").createRequire(import.meta.url);
  return require("cross-spawn") as typeof ChildProcess.spawn;
}

class NodeChild implements ChildHandle {
  readonly pid: number | undefined;
  readonly #child: Child;
  #exited = false;
  #release: () => void = () => {};

  constructor(child: Child) {
    this.#child = child;
    this.pid = child.pid;
    if (child.pid !== undefined) this.#release = endWithThisProcess(() => this.kill("SIGKILL"));
    // A child that closed its stdin or died turns writes into EPIPE; `stdoutClosed` and `exited` tell the story.
    child.stdin.on("error", () => {});
    child.stdout.on("error", () => {});
    child.stderr.on("error", () => {});
  }

  on(events: ChildEvents): void {
    const child = this.#child;
    child.stdout.on("data", (chunk: Uint8Array) => events.stdout(chunk));
    child.stderr.on("data", (chunk: Uint8Array) => events.stderr(chunk));
    child.stdout.once("close", () => events.stdoutClosed());
    child.stdin.on("drain", () => events.drained());
    const ended = (end: Parameters<ChildEvents["exited"]>[0]) => {
      if (this.#exited) return;
      this.#exited = true;
      if (!this.treeAlive()) this.#release();
      events.exited(end);
    };
    child.once("error", (error) => {
      // Also raised when a signal could not be sent, to a child that runs; only a child without pid never started.
      if (child.pid === undefined) ended({ error });
    });
    child.once("exit", (code, signal) =>
      ended({ ...(code === null ? {} : { code }), ...(signal === null ? {} : { signal }) }),
    );
  }

  write(text: string): boolean {
    const { stdin } = this.#child;
    return stdin.writable ? stdin.write(text) : true;
  }

  endInput(): void {
    this.#child.stdin.end();
  }

  kill(signal: "SIGTERM" | "SIGKILL"): void {
    if (this.pid === undefined) return;
    if (isWindows()) killTree(this.pid);
    else signalGroup(this.pid, signal);
    if (signal === "SIGKILL") this.#letGo();
  }

  treeAlive(): boolean {
    if (this.pid === undefined || isWindows()) return !this.#exited;
    try {
      process.kill(-this.pid, 0);
      return true;
    } catch {
      return false;
    }
  }

  pause(): void {
    this.#child.stdout.pause();
  }

  resume(): void {
    this.#child.stdout.resume();
  }

  /** Whatever still holds the far ends of the pipes, they no longer concern this process. */
  #letGo(): void {
    this.#release();
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }
}

/** A group outlives its leader while it has members, and the kernel gives its id to nobody else until then. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: everything in the group has ended.
  }
}

function killTree(pid: number): void {
  const { spawn } = builtin("node:child_process");
  spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true }).on("error", () => {});
}

function failedChild(error: Error): ChildHandle {
  return {
    pid: undefined,
    write: () => true,
    endInput() {},
    kill() {},
    pause() {},
    resume() {},
    on: (events) =>
      void setImmediate(() => {
        events.stdoutClosed();
        events.exited({ error });
      }),
  };
}
