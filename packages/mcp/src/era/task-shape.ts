import { isObject } from "../jsonrpc/message.js";
import type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
import { McpError } from "../protocol/error.js";
import type { DetailedTask, Task, TaskStatus } from "../protocol/features/tasks.js";
import { META } from "../protocol/meta.js";
import { CORE_TABLE } from "../protocol/methods.js";
import type { Call, Question } from "./era.js";

/** A client's request for a task. */
export interface RequestedTask {
  /** Requested lifetime of the task in milliseconds. */
  readonly ttlMs?: number | undefined;
}

/**
 * The rules of tasks in a revision: which side decides that a call becomes a task, and the form of tasks in messages.
 */
export interface TaskDialect {
  /** True if clients declare support for tasks. Otherwise each call asks for a task, if the revision has tasks. */
  readonly clientsDeclare: boolean;
  /**
   * True if a call has to ask for its task. `tools/list` then states which tools support tasks, and a call that asks
   * for a task gets one even if its result is already known.
   */
  readonly callsRequest: boolean;
  /**
   * True if the server sends status and questions to the client that created the task. `tasks/get` then does not
   * include the questions.
   */
  readonly pushes: boolean;
  /** True if cancelling a task that has ended is an error. */
  readonly refusesLateCancel: boolean;
  /** Capabilities that a server declares in addition to the extension. */
  readonly capabilities: ServerCapabilities;
  /** Capabilities that a client declares in addition to the extension, given the questions that it can answer. */
  answerCapabilities(canAnswer: (method: Question["method"]) => boolean): ClientCapabilities;
  /**
   * The client's request for a task. Undefined if the call may not become a task. Throws `invalid_params` for a
   * malformed request.
   */
  requestedTask(call: Pick<Call, "params" | "clientCapabilities">): RequestedTask | undefined;
  /** Throws if the client may not send requests about tasks. */
  checkCaller(call: Call): void;
  /** The error for a tool that can only run as a task, called by a client without support for tasks. */
  taskRequiredError(tool: string): McpError;
  /**
   * The server's request that the client answer the question with a task. Undefined if the server wants the answer itself.
   */
  requestedAnswerTask(question: Question): RequestedTask | undefined;
  /** True if the client can answer this question with a task. */
  asksByTask(call: Call, question: Question): boolean;
  /** The result of a request that became a task. */
  createdResult(task: Task): object;
  /** The result of `tasks/get`, or the parameters of a notification about a task. */
  encode(task: DetailedTask): object;
  /** The result of `tasks/cancel`. */
  cancelResult(task: DetailedTask): object;
  /** The result of a call as its task stores it, in the form that the result would have without a task. */
  storedResult(result: object, call: Call): Record<string, unknown>;
}

/** Adds the id of the related task to a result or to the parameters of a message. */
export function relatedTo(taskId: string, members: object): object {
  const meta = (members as { _meta?: unknown })._meta;
  return { ...members, _meta: { ...(isObject(meta) ? meta : {}), [META.relatedTask]: { taskId } } };
}

const STATUSES: readonly unknown[] = ["working", "input_required", "completed", "failed", "cancelled"];

function isQuestion(method: unknown): boolean {
  return typeof method === "string" && CORE_TABLE.get(method)?.embeddedFrom !== undefined;
}

/** The first fault in the required members. Undefined if there is none. */
function problemOf({ taskId, status, inputRequests, error }: Record<string, unknown>): string | undefined {
  if (typeof taskId !== "string" || taskId === "") return "has no taskId";
  if (!STATUSES.includes(status)) return `has the status ${JSON.stringify(status)}`;
  if (status === "failed" && error !== undefined && !isObject(error)) return "has an error that is not an object";
  if (status !== "input_required" || inputRequests === undefined) return undefined;
  if (!isObject(inputRequests)) return "has inputRequests that are not an object";
  const unknown = Object.entries(inputRequests).find(([, one]) => !isObject(one) || !isQuestion(one["method"]));
  return unknown === undefined ? undefined : `asks ${JSON.stringify(unknown[0])} with an unknown method`;
}

/**
 * Reads a task that the other side sent, in the form of any revision. Throws `invalid_response` for an invalid task.
 */
export function readTask(value: Record<string, unknown>, sender: "server" | "client" = "server"): DetailedTask {
  const { taskId, status, createdAt, lastUpdatedAt, statusMessage } = value;
  const ttlMs = value["ttlMs"] === undefined ? value["ttl"] : value["ttlMs"];
  const pollIntervalMs = value["pollIntervalMs"] ?? value["pollInterval"];
  const problem = problemOf(value);
  if (problem !== undefined) {
    throw new McpError("invalid_response", `a task of the ${sender} ${problem}`, {
      data: { result: value },
      fix: `Report this to the authors of the ${sender}: it violates the protocol.`,
    });
  }
  const { inputRequests, result, error } = value;
  // Safe: `problemOf` checked the required members, except for the times, which are only displayed.
  return {
    taskId,
    status: status as TaskStatus,
    ...(typeof statusMessage === "string" ? { statusMessage } : {}),
    createdAt: String(createdAt ?? ""),
    lastUpdatedAt: String(lastUpdatedAt ?? ""),
    ttlMs: typeof ttlMs === "number" ? ttlMs : null,
    ...(typeof pollIntervalMs === "number" && pollIntervalMs > 0 ? { pollIntervalMs } : {}),
    ...(inputRequests === undefined ? {} : { inputRequests }),
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
  } as unknown as DetailedTask;
}
