import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/** A program of a lane that runs in a process of its own and answers commands. */
export interface Program<R> {
  readonly pid: number;
  /** What it said when it was ready. */
  readonly ready: R;
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  /** Sends a command and gives its answer; rejects when the program fails or ends. */
  ask<T>(command: string, input?: unknown): Promise<T>;
  /** Ends it, by force where it does not leave within two seconds. */
  stop(): Promise<void>;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
}

/** What goes between a program and its lane. */
export interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** The reply that says that the program is ready. */
export const READY = 0;

export interface StartOptions {
  /** Keeps stdin and stdout for the program's own messages. */
  stdio?: boolean;
  /** Whether stack traces name the sources; the maps for that are loaded with the first trace, and stay on the heap. */
  sourceMaps?: boolean;
  /** A file descriptor that takes what the program says to people, in place of the lane's own stderr. */
  stderr?: number;
}

/** Starts a program with its settings and waits until it is ready. */
export async function startProgram<R>(
  file: string,
  settings: object,
  { stdio = false, sourceMaps = true, stderr }: StartOptions = {},
): Promise<Program<R>> {
  const node = ["--expose-gc", ...(sourceMaps ? ["--enable-source-maps"] : [])];
  const child = spawn(process.execPath, [...node, file, JSON.stringify(settings)], {
    stdio: [stdio ? "pipe" : "ignore", stdio ? "pipe" : "inherit", stderr ?? "inherit", "ipc"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  child.on("message", (reply: Reply) => {
    const asked = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.error === undefined) asked?.resolve(reply.value);
    else asked?.reject(new Error(reply.error));
  });
  child.on("exit", (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`the program ended with ${code ?? signal}`));
    waiting.clear();
  });
  const answer = <T>(id: number) =>
    // Each command knows what it answers; both ends are in this folder.
    new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject })) as Promise<T>;
  let next = READY + 1;
  const ready = await answer<R>(READY);
  return {
    pid: child.pid ?? 0,
    ready,
    stdin: child.stdin,
    stdout: child.stdout,
    ask<T>(command: string, input?: unknown) {
      const id = next++;
      const answered = answer<T>(id);
      child.send({ id, command, input });
      return answered;
    },
    stop: () => end(child, "SIGTERM"),
    kill: () => end(child, "SIGKILL"),
  };
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const force = setTimeout(() => child.kill("SIGKILL"), 2000);
    child.once("exit", () => {
      clearTimeout(force);
      resolve();
    });
    child.kill(signal);
  });
}
