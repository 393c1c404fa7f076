import type { Worker as Thread } from "node:worker_threads";
import { traceOf } from "../../encoding/thrown-message.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { builtin } from "../builtin.js";
import { endWithThisProcess, signalGroup } from "../spawn.js";
import { type FromWorker, isMarked, type ToWorker } from "./worker-messages.js";

/** How workers are started. */
export interface WorkerSettings {
  readonly kind: "worker" | "process";
  readonly memoryMb: number;
  readonly execArgv: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string>> | undefined;
}

/** How a worker ended. */
export interface WorkerEnd {
  readonly code?: number | undefined;
  readonly signal?: string | undefined;
  /** What nothing caught, or why it did not start; a process prints it instead. */
  readonly error?: unknown;
}

/** A thread or a process that runs tools. */
export interface ToolWorker {
  post(message: ToWorker): void;
  /** Ends it, whatever it does. Resolves when it is gone. */
  end(): Promise<void>;
  /** Whether it keeps this process alive. */
  hold(busy: boolean): void;
}

/** What happens to a worker; `ended` is called once, and nothing after it. */
export interface WorkerEvents {
  message(message: FromWorker): void;
  ended(end: WorkerEnd): void;
}

/** Starts a worker. A failure to start arrives through `ended`. */
export function startWorker(program: URL, settings: WorkerSettings, events: WorkerEvents): ToolWorker {
  return settings.kind === "process" ? startProcess(program, settings, events) : startThread(program, settings, events);
}

/**
 * At its limit, a thread is given a few megabytes to end by itself. One collection must not promote more than that, or V8 ends
 * the whole process.
 */
const YOUNG_MB = 8;

function startThread(program: URL, { memoryMb, execArgv, env }: WorkerSettings, events: WorkerEvents): ToolWorker {
  const { Worker } = builtin("node:worker_threads");
  const thread: Thread = new Worker(program, {
    name: "isolated tools",
    // Kept from the stdout of this process, which may belong to the protocol: what is printed before the program begins.
    stdout: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_MB },
    ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
    ...(env === undefined ? {} : { env: { ...env } }),
  });
  let error: unknown;
  thread.on("message", (message: unknown) => {
    if (isMarked(message)) events.message(message);
  });
  thread.on("messageerror", (fault) => {
    error ??= fault;
    void thread.terminate();
  });
  thread.on("error", (fault) => {
    error ??= fault;
  });
  const gone = new Promise<void>((resolve) => {
    thread.once("exit", (code) => {
      events.ended({ code, error });
      resolve();
    });
  });
  return {
    post: (message) => thread.postMessage(message),
    async end() {
      // Who waits for the end must not lose it to an empty event loop; the same goes for a process.
      thread.ref();
      void thread.terminate();
      await gone;
    },
    hold: (busy) => (busy ? thread.ref() : thread.unref()),
  };
}

function startProcess(program: URL, { memoryMb, execArgv, env }: WorkerSettings, events: WorkerEvents): ToolWorker {
  const { fork } = builtin("node:child_process");
  const child = fork(builtin("node:url").fileURLToPath(program), [String(process.pid)], {
    execArgv: [...(execArgv ?? withoutProgram(process.execArgv)), `--max-old-space-size=${memoryMb}`],
    serialization: "advanced",
    // Stdout belongs to the protocol on a pipe, so what a tool prints goes to stderr.
    stdio: ["ignore", 2, 2, "ipc"],
    // It leads a group of its own, so that one signal also ends what the tool has started.
    detached: process.platform !== "win32",
    ...(env === undefined ? {} : { env: { ...env } }),
  });
  const kill = () => {
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
  };
  const release = child.pid === undefined ? () => {} : endWithThisProcess(kill);
  let over = false;
  let left: () => void = () => {};
  const gone = new Promise<void>((resolve) => {
    left = resolve;
  });
  const ended = (end: WorkerEnd) => {
    if (over) return;
    over = true;
    // The leader of the group may have left others behind.
    kill();
    release();
    events.ended(end);
    left();
  };
  child.on("message", (message) => {
    if (!over && isMarked(message)) events.message(message);
  });
  child.once("error", (error) => {
    if (child.pid === undefined) ended({ error });
  });
  child.once("exit", (code, signal) => ended({ code: code ?? undefined, signal: signal ?? undefined }));
  return {
    post(message) {
      // A process that has just ended is reported by its exit.
      if (child.connected) child.send(message, () => {});
    },
    end() {
      child.ref();
      kill();
      return gone;
    },
    hold(busy) {
      if (busy) {
        child.ref();
        child.channel?.ref();
      } else {
        child.unref();
        child.channel?.unref();
      }
    },
  };
}

/** The options of this process without a program that was given among them. */
function withoutProgram(execArgv: readonly string[]): string[] {
  const at = execArgv.findIndex((word) => /^(-e|-p|-pe|--eval|--print)$/.test(word));
  return at < 0 ? [...execArgv] : [...execArgv.slice(0, at), ...execArgv.slice(at + 2)];
}

/**
 * The program that workers run. It lies beside this file; where a bundler has moved this file, it is that of the installed
 * package, found from the module of the tool.
 */
export function workerProgram(module: string): URL {
  const { existsSync } = builtin("node:fs");
  const beside = new URL("./tool-worker.js", import.meta.url);
  if (existsSync(beside)) return beside;
  try {
    const entry = builtin("node:module").createRequire(module).resolve("@parley/mcp/node");
    const installed = new URL("./chunks/tool-worker.js", builtin("node:url").pathToFileURL(entry));
    if (existsSync(installed)) return installed;
  } catch {
    // The package is not installed there, as the error says.
  }
  throw new McpError("unsupported", "isolated tools need a file of `@parley/mcp` that is not in this bundle", {
    fix: "Keep `@parley/mcp` out of the bundle: let the bundler treat it as external, and install it beside.",
  });
}

/** The error of a call whose worker ended in the middle of it. The operator is told what the caller is not. */
export function workerFailure(platform: Platform, tool: string, end: WorkerEnd, memoryMb: number): McpError {
  const { code, signal, error } = end;
  const detail = error === undefined ? `exit code ${code ?? "none"}, signal ${signal ?? "none"}` : traceOf(error);
  platform.warn(`the worker of the isolated tool "${tool}" ended: ${detail}`);
  return new McpError("tool_error", `The tool "${tool}" ${whatHappened(end, memoryMb)}.`, { cause: error });
}

function whatHappened({ code, signal, error }: WorkerEnd, memoryMb: number): string {
  if ((error as { code?: unknown } | undefined)?.code === "ERR_WORKER_OUT_OF_MEMORY") {
    return `needed more memory than its limit of ${memoryMb} MB (memoryMb), and was stopped`;
  }
  // What V8 does when the heap is full; native code does it too.
  if (signal === "SIGABRT" || code === 134) {
    return `was aborted, most likely because it needed more memory than its limit of ${memoryMb} MB (memoryMb)`;
  }
  if (error !== undefined) return "crashed with an error that nothing caught";
  return signal === undefined ? `ended its process with exit code ${code}` : `was ended by the signal ${signal}`;
}

/** The error of a call whose worker never became ready. */
export function cannotStart(platform: Platform, { code, signal, error }: WorkerEnd): McpError {
  const detail = error === undefined ? `exit code ${code ?? "none"}, signal ${signal ?? "none"}` : traceOf(error);
  const fix =
    "Look at `execArgv`, `env` and `memoryMb` of the isolated tool: the worker ended before it loaded a tool.";
  platform.warn(`a worker for isolated tools could not be started: ${detail}. ${fix}`);
  return new McpError("internal_error", "a worker for isolated tools could not be started", { cause: error, fix });
}

/** The error of a call that took too long. */
export function lateError(tool: string, ms: number): McpError {
  return new McpError("timeout", `The tool "${tool}" did not finish within its limit of ${ms} ms, and was stopped.`, {
    data: { limit: "timeoutMs", ms },
    fix: "Ask for less, or raise `timeoutMs` of the isolated tool.",
  });
}

/** The error of a call whose module is still loading. */
export function neverStarted(tool: string, ms: number): McpError {
  return new McpError("timeout", `The tool "${tool}" did not start within ${ms} ms, and was stopped.`, {
    data: { phase: "loading", ms },
    fix: "Do less at the top of the tool's module: it is loaded before the first call.",
  });
}

/** The error of a call whose module cannot be loaded. */
export function unloadable(platform: Platform, tool: string, error: unknown): McpError {
  const { code, fix } = error as { code?: unknown; fix?: unknown };
  const advice =
    code === "ERR_UNKNOWN_FILE_EXTENSION"
      ? ' This runtime cannot load TypeScript: build the module, or pass `execArgv: ["--import", "tsx"]`.'
      : typeof fix === "string"
        ? ` ${fix}`
        : "";
  platform.warn(`the module of the isolated tool "${tool}" cannot be loaded: ${traceOf(error)}${advice}`);
  return new McpError("tool_error", `The tool "${tool}" cannot be loaded.`, { cause: error });
}
