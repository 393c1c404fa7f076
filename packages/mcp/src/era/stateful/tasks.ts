import { isObject } from "../../jsonrpc/message.js";
import { capabilitiesFor, hasCapability } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { LegacyTask, Task } from "../../protocol/features/tasks.js";
import { featuresOf } from "../../protocol/revisions.js";
import type { Question } from "../era.js";
import type { RequestedTask, TaskDialect } from "../task-shape.js";
import { downgradeResult } from "./downgrade.js";

/** Questions that clients can answer with tasks. */
const TASK_QUESTIONS: readonly Question["method"][] = ["sampling/createMessage", "elicitation/create"];

function capabilityOf(method: string): string {
  return `tasks.requests.${method.replace("/", ".")}`;
}

/**
 * Tasks as an experimental part of the protocol: a request of either side can ask the receiver to run it as a task.
 *
 * Spec: Tasks, https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export const STATEFUL_TASKS: TaskDialect = {
  clientsDeclare: false,
  callsRequest: true,
  pushes: true,
  refusesLateCancel: true,
  capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  answerCapabilities(canAnswer) {
    const paths = TASK_QUESTIONS.filter(canAnswer).map(capabilityOf);
    return paths.length === 0 ? {} : capabilitiesFor("tasks.list", "tasks.cancel", ...paths);
  },
  requestedTask: ({ params: { task } }) => {
    if (task === undefined || isObject(task)) return readTaskRequest(task);
    throw new McpError("invalid_params", "`params.task` must be an object");
  },
  checkCaller() {},
  taskRequiredError: (tool) => onlyAsTask(tool, "send `params.task`"),
  requestedAnswerTask: ({ method, params }) =>
    TASK_QUESTIONS.includes(method) ? readTaskRequest(params?.["task"]) : undefined,
  asksByTask: ({ clientCapabilities }, { method }) => hasCapability(clientCapabilities, capabilityOf(method)),
  /**
   * The response that creates a task always states `working`, even if the task has already ended.
   *
   * Spec: Tasks, "Task Status", https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status
   */
  createdResult(task) {
    const { statusMessage: _message, ...working } = legacyTask(task);
    return { task: { ...working, status: "working" } };
  },
  encode: legacyTask,
  cancelResult: legacyTask,
  storedResult(result, { method, revision, wrapsOutput }) {
    const plain = JSON.parse(JSON.stringify(result)) as Record<string, unknown>;
    return downgradeResult(method, plain, featuresOf(revision), wrapsOutput);
  },
};

/** The rules of revisions without tasks. */
export const WITHOUT_TASKS: TaskDialect = {
  ...STATEFUL_TASKS,
  callsRequest: false,
  pushes: false,
  capabilities: {},
  answerCapabilities: () => ({}),
  requestedTask: () => undefined,
  taskRequiredError: (tool) => onlyAsTask(tool, "this revision of the protocol has no tasks"),
  requestedAnswerTask: () => undefined,
  asksByTask: () => false,
};

function readTaskRequest(task: unknown): RequestedTask | undefined {
  if (!isObject(task)) return undefined;
  const { ttl } = task;
  if (ttl === undefined || ttl === null) return {};
  if (typeof ttl === "number" && Number.isFinite(ttl) && ttl > 0) return { ttlMs: ttl };
  throw new McpError("invalid_params", "`params.task.ttl` must be a number of milliseconds above 0");
}

/**
 * The error for a tool that can only run as a task.
 *
 * Spec: Tasks, "Tool-Level Negotiation",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#tool-level-negotiation
 */
function onlyAsTask(tool: string, advice: string): McpError {
  return new McpError("method_not_found", `the tool "${tool}" can only run as a task; ${advice}`);
}

/**
 * Converts a task to the older form: two members have other names, and a result with `isError` counts as a failure.
 *
 * Spec: Tasks, "Result Retrieval", https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
function legacyTask(task: Task): LegacyTask {
  const { taskId, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = task;
  const result = "result" in task ? task.result : undefined;
  const failed = task.status === "completed" && isObject(result) && result["isError"] === true;
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
