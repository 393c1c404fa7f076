import { traceOf } from "../../encoding/thrown-message.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { WorkerEnd } from "./start-worker.js";

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
