import { isObject } from "../jsonrpc/message.js";
import {
  type ClientCapabilities,
  capabilitiesFor,
  hasCapability,
  type ServerCapabilities,
} from "../protocol/capabilities.js";
import { McpError } from "../protocol/error.js";
import { declaresExtension, requireExtension } from "../protocol/extension.js";
import { TASKS } from "../protocol/features/task-methods.js";
import type { DetailedTask, LegacyTask, Task, TaskStatus } from "../protocol/features/tasks.js";
import { META } from "../protocol/meta.js";
import { CORE_TABLE } from "../protocol/methods.js";
import { featuresOf, type Revision } from "../protocol/revisions.js";
import type { Call, Question } from "./era.js";
import { downgradeResult } from "./stateful/downgrade.js";

/** Whether this request may be answered with a task. Throws `invalid_params` where it asks for one in a wrong form. */
export function takesTask({ revision, clientCapabilities, params }: Call): boolean {
  const { tasks } = featuresOf(revision);
  if (tasks === "extension") return declaresExtension(clientCapabilities, TASKS.id);
  const { task } = params;
  if (tasks !== "experimental" || task === undefined) return false;
  if (isObject(task)) return true;
  throw new McpError("invalid_params", "`params.task` must be an object");
}

/** Whether the client does not say beforehand that it takes tasks, but by what lists say of a tool. */
export function learnsTasksFromLists({ revision }: Call): boolean {
  return featuresOf(revision).tasks !== "extension";
}

/** Whether a client that gets a task here must be given one, even if the result is known already. */
export function wantsTask({ revision }: Call): boolean {
  return featuresOf(revision).tasks === "experimental";
}

/** How long the client wants the task to be kept; undefined if it does not say. */
export function wantedTtl({ revision, params }: Pick<Call, "revision" | "params">): number | undefined {
  if (featuresOf(revision).tasks !== "experimental" || !isObject(params["task"])) return undefined;
  const { ttl } = params["task"];
  if (ttl === undefined || ttl === null) return undefined;
  if (typeof ttl === "number" && Number.isFinite(ttl) && ttl > 0) return ttl;
  throw new McpError("invalid_params", "`params.task.ttl` must be a number of milliseconds above 0");
}

/**
 * The error for a tool that runs as a task only, called by a client that takes none.
 *
 * Spec: Tasks, "Tool-Level Negotiation",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#tool-level-negotiation
 */
export function taskRequired(tool: string, { revision }: Call): McpError {
  const message = `the tool "${tool}" runs as a task only`;
  const { tasks } = featuresOf(revision);
  if (tasks !== "extension") {
    const advice = tasks === "none" ? "this revision of the protocol has none" : "send `params.task`";
    return new McpError("method_not_found", `${message}; ${advice}`);
  }
  return new McpError("capability_missing", message, {
    data: { requiredCapabilities: { extensions: { [TASKS.id]: {} } } },
    fix: "Connect with a client that declares the extension.",
  });
}

/** Throws unless the sender of a request about tasks declares the extension, in revisions where tasks are one. */
export function requireTasks(call: Call): void {
  if (featuresOf(call.revision).tasks === "extension") requireExtension(call, TASKS.id);
}

/** What a server declares of tasks beside the extension. */
export function taskCapabilities(revision: Revision): ServerCapabilities {
  return featuresOf(revision).tasks === "experimental"
    ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
    : {};
}

/** Questions that clients answer as tasks, where they can. */
const TASK_QUESTIONS = ["sampling/createMessage", "elicitation/create"] as const;

/** What a client declares of tasks beside the extension, if it answers these questions. */
export function answerTaskCapabilities(
  revision: Revision,
  canAnswer: (method: Question["method"]) => boolean,
): ClientCapabilities {
  if (featuresOf(revision).tasks !== "experimental") return {};
  const paths = TASK_QUESTIONS.filter(canAnswer).map((method) => `tasks.requests.${method.replace("/", ".")}`);
  return paths.length === 0 ? {} : capabilitiesFor("tasks.list", "tasks.cancel", ...paths);
}

/** Whether this side answers a question with a task: the server wants one, and it is of a kind that was declared. */
export function answersByTask({ method, params }: Question, revision: Revision): boolean {
  if (featuresOf(revision).tasks !== "experimental" || !isObject(params?.["task"])) return false;
  return (TASK_QUESTIONS as readonly string[]).includes(method);
}

/** Whether the client lets this question be a task of its own. */
export function asksByTask({ revision, clientCapabilities }: Call, { method }: Question): boolean {
  if (featuresOf(revision).tasks !== "experimental") return false;
  return hasCapability(clientCapabilities, `tasks.requests.${method.replace("/", ".")}`);
}

/** Whether the questions of a task are requests, so that `tasks/get` does not show them. */
export function asksByRequest(revision: Revision): boolean {
  return featuresOf(revision).tasks === "experimental";
}

/** Whether lists of tools say which of them run as tasks. */
export function listsTaskSupport(revision: Revision): boolean {
  return featuresOf(revision).tasks === "experimental";
}

/** Whether the client that created a task is told its status without asking. */
export function tellsTaskStatus(revision: Revision): boolean {
  return featuresOf(revision).tasks === "experimental";
}

/**
 * The result of a request that became a task. In the older form every task begins as one that works, even if it is over already.
 *
 * Spec: Tasks, "Task Status", https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status
 */
export function createdTask(task: Task, revision: Revision): object {
  if (featuresOf(revision).tasks !== "experimental") return task;
  const { statusMessage: _message, ...working } = legacyTask(task);
  return { task: { ...working, status: "working" } };
}

/** The result of `tasks/get`, or the parameters of a notification about a task. */
export function shownTask(task: DetailedTask, revision: Revision): object {
  return featuresOf(revision).tasks === "experimental" ? legacyTask(task) : task;
}

/** The result of `tasks/cancel`. */
export function cancelledTask(task: DetailedTask, revision: Revision): object {
  return featuresOf(revision).tasks === "experimental" ? legacyTask(task) : {};
}

/** Whether a task that is over cannot be cancelled again. */
export function refusesLateCancel(revision: Revision): boolean {
  return featuresOf(revision).tasks === "experimental";
}

/**
 * The older form: other names of two members, and a result with `isError` is a failure.
 *
 * Spec: Tasks, "Result Retrieval", https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
function legacyTask(task: Task): LegacyTask {
  const { taskId, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = task;
  const failed = task.status === "completed" && isFailure(task);
  return {
    taskId,
    status: failed ? "failed" : task.status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt,
    lastUpdatedAt,
    ttl: ttlMs,
    ...(pollIntervalMs === undefined ? {} : { pollInterval: pollIntervalMs }),
  };
}

function isFailure(task: Task): boolean {
  const result = "result" in task ? task.result : undefined;
  return isObject(result) && result["isError"] === true;
}

/** The result of a call as the task keeps it: in the form that the call would have had without a task. */
export function keptResult(result: object, { method, revision, wrapsOutput }: Call): Record<string, unknown> {
  const plain = JSON.parse(JSON.stringify(result)) as Record<string, unknown>;
  const features = featuresOf(revision);
  // Spec: Base Protocol, "Results": every result of the newer era says of what kind it is, and so does one inside a task.
  if (features.era !== "stateful") return { ...plain, resultType: "complete" };
  return downgradeResult(method, plain, features, wrapsOutput);
}

/** A result, or the parameters of a message, with the task that it belongs to. */
export function relatedTo(taskId: string, members: object): object {
  const meta = (members as { _meta?: unknown })._meta;
  return { ...members, _meta: { ...(isObject(meta) ? meta : {}), [META.relatedTask]: { taskId } } };
}

const STATUSES: readonly unknown[] = ["working", "input_required", "completed", "failed", "cancelled"];

function isQuestion(method: unknown): boolean {
  return typeof method === "string" && CORE_TABLE.get(method)?.embeddedFrom !== undefined;
}

/** What is wrong with the members that decide; undefined if nothing is. */
function problemOf({ taskId, status, inputRequests, error }: Record<string, unknown>): string | undefined {
  if (typeof taskId !== "string" || taskId === "") return "has no taskId";
  if (!STATUSES.includes(status)) return `has the status ${JSON.stringify(status)}`;
  if (status === "failed" && error !== undefined && !isObject(error)) return "has an error that is not an object";
  if (status !== "input_required" || inputRequests === undefined) return undefined;
  if (!isObject(inputRequests)) return "has inputRequests that are not an object";
  const unknown = Object.entries(inputRequests).find(([, one]) => !isObject(one) || !isQuestion(one["method"]));
  return unknown === undefined ? undefined : `asks ${JSON.stringify(unknown[0])} by an unknown method`;
}

/** A task as the other side sent it, in either form. Throws `invalid_response` for anything else. */
export function readTask(value: Record<string, unknown>, sender: "server" | "client" = "server"): DetailedTask {
  const { taskId, status, createdAt, lastUpdatedAt, statusMessage } = value;
  const ttlMs = value["ttlMs"] === undefined ? value["ttl"] : value["ttlMs"];
  const pollIntervalMs = value["pollIntervalMs"] ?? value["pollInterval"];
  const problem = problemOf(value);
  if (problem !== undefined) {
    throw new McpError("invalid_response", `a task of the ${sender} ${problem}`, {
      data: { result: value },
      fix: `The ${sender} violates the protocol; report it to its authors.`,
    });
  }
  const { inputRequests, result, error } = value;
  // The members that decide were checked; times are for people.
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
