import { RpcError } from "../../../jsonrpc/error.js";
import { isObject } from "../../../jsonrpc/message.js";
import { fromWire, McpError } from "../../../protocol/error.js";
import type { DetailedTask } from "../../../protocol/features/tasks.js";
import type { CallToolResult } from "../../../protocol/features/tools.js";

/** Returns the result of a tool call whose task has ended. Throws the error of a task that was cancelled or failed. */
export function taskOutcome(task: DetailedTask): CallToolResult {
  const { status, statusMessage } = task;
  if (status === "cancelled") {
    const reason = statusMessage === undefined ? "" : `: ${statusMessage}`;
    throw new McpError("cancelled", `the task was cancelled${reason}`);
  }
  if (status === "failed") throw failure(task);
  // The code that called the tool validates the result.
  if (status === "completed" && isObject(task.result)) return task.result as unknown as CallToolResult;
  throw new McpError("invalid_response", `the task is ${status} and has no result`, { data: { task } });
}

function failure(task: DetailedTask): McpError {
  const { code, message, data } =
    "error" in task && task.error !== undefined
      ? task.error
      : ({} as { code?: number; message?: string; data?: unknown });
  const text = typeof message === "string" ? message : (task.statusMessage ?? "the task failed");
  return fromWire(new RpcError(typeof code === "number" ? code : -32603, text, data));
}

/** The error for a task that runs longer than its time to live. */
export function outlivedTaskError({ status, ttlMs }: DetailedTask): McpError {
  return new McpError("timeout", `the task is still ${status} after its time to live of ${ttlMs} ms`, {
    data: { limit: "ttlMs", ms: ttlMs },
    fix: "Raise `ttlMs` on the server, above the time that the work takes.",
  });
}

/** Kinds of connection failures. They say nothing about the task, so the request is worth repeating. */
const TRANSIENT: ReadonlySet<string> = new Set([
  "connection_closed",
  "transport_error",
  "timeout",
  "session_lost",
  "connect_failed",
]);

/** True if a request about a task failed for a transient reason, so that it is worth repeating. */
export function isTransientFailure(error: unknown): boolean {
  return McpError.is(error) && (TRANSIENT.has(error.kind) || retryAfterOf(error) !== undefined);
}

/**
 * Returns the time in milliseconds after which the client should repeat the request, if the server's error contains
 * one. A server sends such an error, for example, while its storage is unavailable.
 */
export function retryAfterOf(error: unknown): number | undefined {
  const data = McpError.is(error) ? error.data : undefined;
  const ms = isObject(data) ? data["retryAfterMs"] : undefined;
  return typeof ms === "number" && ms >= 0 ? ms : undefined;
}
