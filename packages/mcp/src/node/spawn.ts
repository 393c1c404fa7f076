import type * as ChildProcess from "node:child_process";
import type { ChildEvents, ChildHandle, SpawnOptions } from "../platform/platform.js";
import { builtin } from "./builtin.js";

type Child = ChildProcess.ChildProcessByStdio<
  import("node:stream").Writable,
  import("node:stream").Readable,
  import("node:stream").Readable
>;

/** A function, because this file is also loaded on runtimes without `process`. */
const isWindows = () => process.platform === "win32";

/**
 * Starts a child process on Node, without a shell.
 *
 * On POSIX the child has its own process group, so that one signal reaches all its descendants. This process ends the
 * group when it exits.
 */
export function spawn(options: SpawnOptions): ChildHandle {
  let child: Child;
  try {
    child = start(options);
  } catch (error) {
    // Invalid arguments (a NUL byte, a `cwd` of the wrong type) throw. Callers receive every failure through `exited`.
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
  // Windows starts `.cmd` files only through cmd.exe. cross-spawn handles the quoting.
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
    // Writes fail with EPIPE after the child closed stdin or exited. The listeners that `on` adds report both.
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
    child.stdin.once("error", () => events.stdinClosed?.());
    const ended = (end: Parameters<ChildEvents["exited"]>[0]) => {
      if (this.#exited) return;
      this.#exited = true;
      if (!this.treeAlive()) this.#release();
      events.exited(end);
    };
    child.once("error", (error) => {
      // This event is also emitted if a signal cannot be sent to a running child. Only a child that never started has
      // no pid.
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
    if (signal === "SIGKILL") this.#closePipes();
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

  /** Closes this process's ends of the pipes, even if a descendant still holds the other ends. */
  #closePipes(): void {
    this.#release();
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }
}

/**
 * Signals a process group. The group exists as long as it has members, even if its leader has exited, and the kernel
 * does not reuse its id meanwhile.
 */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(isWindows() ? pid : -pid, signal);
  } catch {
    // ESRCH: all processes of the group have exited.
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

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const exitHooks = new Set<() => void>();

/**
 * Calls `end` when this process exits or receives a signal that the program does not handle. Returns a function that
 * removes the listeners.
 *
 * A child in its own process group does not receive the terminal's Ctrl-C. Without these listeners the child would
 * outlive its parent.
 */
export function endWithThisProcess(end: () => void): () => void {
  if (exitHooks.size === 0) {
    process.on("exit", endAll);
    for (const signal of SIGNALS) process.on(signal, onSignal);
  }
  exitHooks.add(end);
  return () => {
    if (!exitHooks.delete(end) || exitHooks.size > 0) return;
    process.off("exit", endAll);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}

function endAll(): void {
  for (const end of [...exitHooks]) end();
}

function onSignal(signal: NodeJS.Signals): void {
  // The program handles the signal itself. Our `exit` listener still runs later.
  if (process.listenerCount(signal) > 1) return;
  endAll();
  for (const name of SIGNALS) process.off(name, onSignal);
  // Without listeners the signal has its default effect.
  process.kill(process.pid, signal);
}
