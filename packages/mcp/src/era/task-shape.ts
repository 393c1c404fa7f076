import { isObject } from "../jsonrpc/message.js";
import type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
import { McpError } from "../protocol/error.js";
import type { DetailedTask, Task, TaskStatus } from "../protocol/features/tasks.js";
import { META } from "../protocol/meta.js";
import { CORE_TABLE } from "../protocol/methods.js";
import type { Call, Question } from "./era.js";

/** The wishes of a client for its task. */
export interface WantedTask {
  /** Milliseconds that the task is to be stored. */
  readonly ttlMs?: number | undefined;
}

/** How tasks work in a revision: who decides that a call becomes one, and what they look like in messages. */
export interface TaskDialect {
  /** True if clients declare that they take tasks; otherwise they ask for one with each call, by what lists say of a tool. */
  readonly declared: boolean;
  /** True if calls ask for their task: lists say which tools have one, and a call that asks gets one even if its result is known. */
  readonly requested: boolean;
  /** True if the client that created a task is sent its status and its questions, so that `tasks/get` does not show the latter. */
  readonly pushed: boolean;
  /** True if a task that is over cannot be cancelled again. */
  readonly refusesLateCancel: boolean;
  /** Capabilities that a server declares beside the extension. */
  readonly capabilities: ServerCapabilities;
  /** Capabilities that a client declares beside the extension, if it answers these questions. */
  answerCapabilities(canAnswer: (method: Question["method"]) => boolean): ClientCapabilities;
  /**
   * The task that this request may be answered with; undefined if it may not. Throws `invalid_params` where it asks for one in a
   * wrong form.
   */
  wanted(call: Pick<Call, "params" | "clientCapabilities">): WantedTask | undefined;
  /** Throws unless the sender of a request about tasks may send it. */
  require(call: Call): void;
  /** The error for a tool that runs as a task only, called by a client that takes none. */
  required(tool: string): McpError;
  /** The task that the server wants as the answer to its question; undefined if it wants the answer. */
  wantedAnswer(question: Question): WantedTask | undefined;
  /** Whether the client lets this question be a task of its own. */
  asksByTask(call: Call, question: Question): boolean;
  /** The result of a request that became a task. */
  created(task: Task): object;
  /** The result of `tasks/get`, or the parameters of a notification about a task. */
  shown(task: DetailedTask): object;
  /** The result of `tasks/cancel`. */
  cancelled(task: DetailedTask): object;
  /** The result of a call as its task stores it: in the form that the call would have had without a task. */
  stored(result: object, call: Call): Record<string, unknown>;
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

/** The first fault of the members that decide; undefined if there is none. */
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
