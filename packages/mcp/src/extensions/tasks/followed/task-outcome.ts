import { RpcError } from "../../../jsonrpc/error.js";
import { isObject } from "../../../jsonrpc/message.js";
import { fromWire, McpError } from "../../../protocol/error.js";
import type { DetailedTask } from "../../../protocol/features/tasks.js";
import type { CallToolResult } from "../../../protocol/features/tools.js";

/** What the call of a tool gives whose task is over. Throws the error of a task that was cancelled or failed. */
export function taskOutcome(task: DetailedTask): CallToolResult {
  const { status, statusMessage } = task;
  if (status === "cancelled") {
    const reason = statusMessage === undefined ? "" : `: ${statusMessage}`;
    throw new McpError("cancelled", `the task was cancelled${reason}`);
  }
  if (status === "failed") throw failure(task);
  // Whoever called the tool checks its result.
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

/** The error for a task that goes on although the server should have forgotten it. */
export function outlivedTask({ status, ttlMs }: DetailedTask): McpError {
  return new McpError("timeout", `the task is still ${status}, although it was to be kept for ${ttlMs} ms only`, {
    data: { limit: "ttlMs", ms: ttlMs },
    fix: "Let the server keep the task for longer than its work takes.",
  });
}

/** Failures of the way to the server, which say nothing of the task. */
const PASSING: ReadonlySet<string> = new Set([
  "connection_closed",
  "transport_error",
  "timeout",
  "session_lost",
  "connect_failed",
]);

/** Whether a request about a task failed for a reason that passes, so that it is worth repeating. */
export function isPassing(error: unknown): boolean {
  return McpError.is(error) && (PASSING.has(error.kind) || retryAfterOf(error) !== undefined);
}

/** When the server asks for the request again, such as while its storage is away. */
export function retryAfterOf(error: unknown): number | undefined {
  const data = McpError.is(error) ? error.data : undefined;
  const ms = isObject(data) ? data["retryAfterMs"] : undefined;
  return typeof ms === "number" && ms >= 0 ? ms : undefined;
}
