import type { Worker as Thread } from "node:worker_threads";
import { traceOf } from "../../encoding/thrown-message.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { builtin } from "../builtin.js";
import { endWithThisProcess, signalGroup } from "../spawn.js";
import { type FromWorker, isMarked, type ToWorker } from "./worker-messages.js";

/** How to start workers. */
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
  /**
   * The uncaught error, or the reason why the worker did not start. Undefined for an uncaught error in a process, which
   * prints the error itself.
   */
  readonly error?: unknown;
}

/** A thread or a process that runs tools. */
export interface ToolWorker {
  post(message: ToWorker): void;
  /** Terminates the worker. Resolves when it is gone. */
  end(): Promise<void>;
  /** Sets whether the worker keeps this process alive. */
  keepProcessAlive(busy: boolean): void;
}

/** Callbacks for the events of a worker. `ended` is called exactly once, after all calls of `message`. */
export interface WorkerEvents {
  message(message: FromWorker): void;
  ended(end: WorkerEnd): void;
}

/** Starts a worker. Reports a failure to start through `ended`. */
export function startWorker(program: URL, settings: WorkerSettings, events: WorkerEvents): ToolWorker {
  return settings.kind === "process" ? startProcess(program, settings, events) : startThread(program, settings, events);
}

/**
 * Maximum size of the young generation of a thread, in megabytes. At its memory limit, a thread gets a few more
 * megabytes to end by itself. If one garbage collection moves more than that out of the young generation, V8 ends the
 * whole process.
 */
const MAX_YOUNG_MB = 8;

function startThread(program: URL, { memoryMb, execArgv, env }: WorkerSettings, events: WorkerEvents): ToolWorker {
  const { Worker } = builtin("node:worker_threads");
  const thread: Thread = new Worker(program, {
    name: "isolated tools",
    // Captured, because the stdout of this process may carry the protocol. The option covers output from before the
    // worker's program redirects stdout.
    stdout: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
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
      // Keep the event loop alive until the thread is gone, because the caller awaits that. `end` of a process does the
      // same.
      thread.ref();
      void thread.terminate();
      await gone;
    },
    keepProcessAlive: (busy) => (busy ? thread.ref() : thread.unref()),
  };
}

function startProcess(program: URL, { memoryMb, execArgv, env }: WorkerSettings, events: WorkerEvents): ToolWorker {
  const { fork } = builtin("node:child_process");
  const child = fork(builtin("node:url").fileURLToPath(program), [String(process.pid)], {
    execArgv: [...(execArgv ?? withoutProgram(process.execArgv)), `--max-old-space-size=${memoryMb}`],
    serialization: "advanced",
    // The stdout of this process may carry the protocol, so the output of a tool goes to stderr.
    stdio: ["ignore", 2, 2, "ipc"],
    // The child has its own process group, so that one signal also ends the processes that a tool has started.
    detached: process.platform !== "win32",
    ...(env === undefined ? {} : { env: { ...env } }),
  });
  const kill = () => {
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
  };
  const release = child.pid === undefined ? () => {} : endWithThisProcess(kill);
  let hasEnded = false;
  let resolveGone: () => void = () => {};
  const gone = new Promise<void>((resolve) => {
    resolveGone = resolve;
  });
  const ended = (end: WorkerEnd) => {
    if (hasEnded) return;
    hasEnded = true;
    // End other processes of the group that may still run.
    kill();
    release();
    events.ended(end);
    resolveGone();
  };
  child.on("message", (message) => {
    if (!hasEnded && isMarked(message)) events.message(message);
  });
  child.once("error", (error) => {
    if (child.pid === undefined) ended({ error });
  });
  child.once("exit", (code, signal) => ended({ code: code ?? undefined, signal: signal ?? undefined }));
  return {
    post(message) {
      // A failed `send` is ignored: if the process has just ended, the exit event reports that.
      if (child.connected) child.send(message, () => {});
    },
    end() {
      child.ref();
      kill();
      return gone;
    },
    keepProcessAlive(busy) {
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

/** The options of this process without an inline program such as `--eval`. */
function withoutProgram(execArgv: readonly string[]): string[] {
  const at = execArgv.findIndex((word) => /^(-e|-p|-pe|--eval|--print)$/.test(word));
  return at < 0 ? [...execArgv] : [...execArgv.slice(0, at), ...execArgv.slice(at + 2)];
}

/**
 * The program that workers run: the file next to this one. If a bundler has moved this file, resolves the program of
 * the installed package from the module of the tool.
 */
export function workerProgram(module: string): URL {
  const { existsSync } = builtin("node:fs");
  const beside = new URL("./tool-worker.js", import.meta.url);
  if (existsSync(beside)) return beside;
  try {
    const entry = builtin("node:module").createRequire(module).resolve("@parley/mcp/node");
    const installed = new URL("../chunks/tool-worker.js", builtin("node:url").pathToFileURL(entry));
    if (existsSync(installed)) return installed;
  } catch {
    // Not installed next to the tool's module: the error below is thrown.
  }
  throw new McpError("unsupported", "isolated tools need a file of `@parley/mcp` that this bundle does not contain", {
    fix: "Mark `@parley/mcp` as external in the bundler, and install it next to the bundle.",
  });
}

/**
 * Creates the error of a call whose worker ended during the call. Details go to the log, because the caller must not
 * see them.
 */
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
  // V8 aborts when the heap is full. Native code may abort too.
  if (signal === "SIGABRT" || code === 134) {
    return `was aborted, most likely because it needed more memory than its limit of ${memoryMb} MB (memoryMb)`;
  }
  if (error !== undefined) return "crashed with an uncaught error";
  return signal === undefined ? `ended its process with exit code ${code}` : `was ended by the signal ${signal}`;
}

/** Creates the error of a call whose worker never became ready. */
export function startFailed(platform: Platform, { code, signal, error }: WorkerEnd): McpError {
  const detail = error === undefined ? `exit code ${code ?? "none"}, signal ${signal ?? "none"}` : traceOf(error);
  const fix = "Check `execArgv`, `env` and `memoryMb` of the isolated tool: the worker ended before it loaded a tool.";
  platform.warn(`a worker for isolated tools could not be started: ${detail}. ${fix}`);
  return new McpError("internal_error", "a worker for isolated tools could not be started", { cause: error, fix });
}

/** Creates the error of a call that exceeded its time limit. */
export function toolTimeout(tool: string, ms: number): McpError {
  return new McpError("timeout", `The tool "${tool}" did not finish within its limit of ${ms} ms, and was stopped.`, {
    data: { limit: "timeoutMs", ms },
    fix: "Ask for less, or raise `timeoutMs` of the isolated tool.",
  });
}

/** Creates the error of a call whose module did not load in time. */
export function loadTimeout(tool: string, ms: number): McpError {
  return new McpError("timeout", `The tool "${tool}" did not start within ${ms} ms, and was stopped.`, {
    data: { phase: "loading", ms },
    fix: "Do less work at the top level of the tool's module, which is loaded before the first call.",
  });
}

/** Creates the error of a call whose module failed to load. */
export function loadFailed(platform: Platform, tool: string, error: unknown): McpError {
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
