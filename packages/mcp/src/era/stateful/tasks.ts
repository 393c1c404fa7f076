import { isObject } from "../../jsonrpc/message.js";
import { capabilitiesFor, hasCapability } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { LegacyTask, Task } from "../../protocol/features/tasks.js";
import { featuresOf } from "../../protocol/revisions.js";
import type { Question } from "../era.js";
import type { TaskDialect, WantedTask } from "../task-shape.js";
import { downgradeResult } from "./downgrade.js";

/** Questions that clients answer as tasks, where they can. */
const TASK_QUESTIONS: readonly Question["method"][] = ["sampling/createMessage", "elicitation/create"];

function capabilityOf(method: string): string {
  return `tasks.requests.${method.replace("/", ".")}`;
}

/**
 * Tasks as an experimental part of the protocol: each request asks for its task, in both directions.
 *
 * Spec: Tasks, https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export const STATEFUL_TASKS: TaskDialect = {
  declared: false,
  requested: true,
  pushed: true,
  refusesLateCancel: true,
  capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  answerCapabilities(canAnswer) {
    const paths = TASK_QUESTIONS.filter(canAnswer).map(capabilityOf);
    return paths.length === 0 ? {} : capabilitiesFor("tasks.list", "tasks.cancel", ...paths);
  },
  wanted: ({ params: { task } }) => {
    if (task === undefined || isObject(task)) return wantedTask(task);
    throw new McpError("invalid_params", "`params.task` must be an object");
  },
  require() {},
  required: (tool) => onlyAsTask(tool, "send `params.task`"),
  wantedAnswer: ({ method, params }) => (TASK_QUESTIONS.includes(method) ? wantedTask(params?.["task"]) : undefined),
  asksByTask: ({ clientCapabilities }, { method }) => hasCapability(clientCapabilities, capabilityOf(method)),
  /**
   * Every task begins as one that works, even if it is over already.
   *
   * Spec: Tasks, "Task Status", https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status
   */
  created(task) {
    const { statusMessage: _message, ...working } = legacyTask(task);
    return { task: { ...working, status: "working" } };
  },
  shown: legacyTask,
  cancelled: legacyTask,
  stored(result, { method, revision, wrapsOutput }) {
    const plain = JSON.parse(JSON.stringify(result)) as Record<string, unknown>;
    return downgradeResult(method, plain, featuresOf(revision), wrapsOutput);
  },
};

/** The revisions before tasks: nothing becomes one. */
export const WITHOUT_TASKS: TaskDialect = {
  ...STATEFUL_TASKS,
  requested: false,
  pushed: false,
  capabilities: {},
  answerCapabilities: () => ({}),
  wanted: () => undefined,
  required: (tool) => onlyAsTask(tool, "this revision of the protocol has none"),
  wantedAnswer: () => undefined,
  asksByTask: () => false,
};

function wantedTask(task: unknown): WantedTask | undefined {
  if (!isObject(task)) return undefined;
  const { ttl } = task;
  if (ttl === undefined || ttl === null) return {};
  if (typeof ttl === "number" && Number.isFinite(ttl) && ttl > 0) return { ttlMs: ttl };
  throw new McpError("invalid_params", "`params.task.ttl` must be a number of milliseconds above 0");
}

/**
 * Spec: Tasks, "Tool-Level Negotiation",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#tool-level-negotiation
 */
function onlyAsTask(tool: string, advice: string): McpError {
  return new McpError("method_not_found", `the tool "${tool}" runs as a task only; ${advice}`);
}

/**
 * The older form: other names of two members, and a result with `isError` is a failure.
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
