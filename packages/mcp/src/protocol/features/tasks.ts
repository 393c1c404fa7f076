import type { ErrorObject } from "../../jsonrpc/message.js";
import type { Extension } from "../extension.js";
import type { NotificationParams, PaginatedRequestParams, PaginatedResult, RequestParams, Result } from "../message.js";
import type { MethodRow } from "../methods.js";
import type { InputRequests, InputResponses } from "./input.js";

export type { RelatedTaskMetadata, TaskMetadata } from "../message.js";

/** The status of a task. The last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** A task of the `io.modelcontextprotocol/tasks` extension. */
export interface Task {
  /** The id for `tasks/get` and other requests about the task. */
  taskId: string;
  /** The current status. */
  status: TaskStatus;
  /** A human-readable description of the status. */
  statusMessage?: string;
  /** The time of creation, in ISO 8601 format. */
  createdAt: string;
  /** The time of the last change, in ISO 8601 format. */
  lastUpdatedAt: string;
  /** The lifetime of the task after its creation, in milliseconds; null for no limit. */
  ttlMs: number | null;
  /** The recommended polling interval in milliseconds. */
  pollIntervalMs?: number;
}

/** A task as 2025-11-25 encodes it. */
export interface LegacyTask {
  /** The id for `tasks/get` and other requests about the task. */
  taskId: string;
  /** The current status. */
  status: TaskStatus;
  /** A human-readable description of the status. */
  statusMessage?: string;
  /** The time of creation, in ISO 8601 format. */
  createdAt: string;
  /** The time of the last change, in ISO 8601 format. */
  lastUpdatedAt: string;
  /** The lifetime of the task after its creation, in milliseconds; null for no limit. */
  ttl: number | null;
  /** The recommended polling interval in milliseconds. */
  pollInterval?: number;
}

/** A running task. */
export interface WorkingTask extends Task {
  /** The task is running. */
  status: "working";
}

/** A task that waits for answers from the client. */
export interface InputRequiredTask extends Task {
  /** The task cannot continue without answers. */
  status: "input_required";
  /** The requests that the client answers with `tasks/update`. */
  inputRequests: InputRequests;
}

/** A task that ended with a result. The result may have `isError`. */
export interface CompletedTask extends Task {
  /** The task has a result. */
  status: "completed";
  /** The result that the request would have had without a task. */
  result: { [key: string]: unknown };
}

/** A task that ended with a JSON-RPC error. */
export interface FailedTask extends Task {
  /** The task has an error. */
  status: "failed";
  /** The JSON-RPC error that the request would have had without a task. */
  error: ErrorObject;
}

/** A cancelled task. */
export interface CancelledTask extends Task {
  /** The task was cancelled. */
  status: "cancelled";
}

/** A task with the members of its status. */
export type DetailedTask = WorkingTask | InputRequiredTask | CompletedTask | FailedTask | CancelledTask;

/** Result of a `tools/call` that became a task, in the extension. */
export interface CreateTaskResult extends Result, Task {
  resultType: "task";
}

/** Result of a request that became a task, in 2025-11-25. */
export interface LegacyCreateTaskResult extends Result {
  /** The new task. */
  task: LegacyTask;
}

/** Parameters of `tasks/get`. */
export interface GetTaskRequestParams extends RequestParams {
  /** The id of the task. */
  taskId: string;
}

/** Result of `tasks/get` in the extension. */
export type GetTaskResult = Result & DetailedTask;

/** Result of `tasks/get` and `tasks/cancel` in 2025-11-25. */
export interface LegacyTaskResult extends Result, LegacyTask {}

/** Parameters of `tasks/result`, which waits until the task ends. 2025-11-25 only. */
export interface GetTaskPayloadRequestParams extends RequestParams {
  /** The id of the task. */
  taskId: string;
}

/** Result of `tasks/result`: the result of the original request. 2025-11-25 only. */
export interface GetTaskPayloadResult extends Result {
  [key: string]: unknown;
}

/** Parameters of `tasks/list`. 2025-11-25 only. */
export interface ListTasksRequestParams extends PaginatedRequestParams {}

/** Result of `tasks/list`. 2025-11-25 only. */
export interface ListTasksResult extends PaginatedResult {
  /** The tasks of this page. */
  tasks: LegacyTask[];
}

/** Parameters of `tasks/cancel`. */
export interface CancelTaskRequestParams extends RequestParams {
  /** The id of the task. */
  taskId: string;
}

/** Result of `tasks/cancel` in the extension: only an acknowledgement. */
export interface CancelTaskResult extends Result {}

/** Parameters of `tasks/update`, which answers the questions of a task. Extension only. */
export interface UpdateTaskRequestParams extends RequestParams {
  /** The id of the task. */
  taskId: string;
  /** Answers by the keys of `inputRequests`. */
  inputResponses: InputResponses;
}

/** Result of `tasks/update`. Extension only. */
export interface UpdateTaskResult extends Result {}

/** Parameters of `notifications/tasks`. Extension only. */
export type TaskNotificationParams = NotificationParams & DetailedTask;

/** Parameters of `notifications/tasks/status`. 2025-11-25 only. */
export interface TaskStatusNotificationParams extends NotificationParams, LegacyTask {}

const EXPERIMENTAL = "2025-11-25";
const EXTENSION = "2026-07-28";

function request(method: string, rest: Partial<MethodRow>): MethodRow {
  return { method, kind: "request", sender: "client", first: EXPERIMENTAL, ...rest };
}

/**
 * The declaration of the tasks extension. In 2025-11-25 tasks are part of the protocol and have separate capabilities.
 *
 * Spec: Tasks extension, https://modelcontextprotocol.io/extensions/tasks/overview
 */
export const TASKS = {
  id: "io.modelcontextprotocol/tasks",
  settings: {},
  first: EXTENSION,
  methods: [
    request("tasks/get", { nameField: "taskId", idempotent: true }),
    request("tasks/cancel", { nameField: "taskId", idempotent: true }),
    request("tasks/update", { first: EXTENSION, nameField: "taskId", idempotent: true }),
    request("tasks/result", { last: EXPERIMENTAL, idempotent: true }),
    request("tasks/list", { last: EXPERIMENTAL, idempotent: true }),
    { method: "notifications/tasks", kind: "notification", sender: "server", first: EXTENSION },
    {
      method: "notifications/tasks/status",
      kind: "notification",
      sender: "both",
      first: EXPERIMENTAL,
      last: EXPERIMENTAL,
    },
  ],
  resultTypes: ["task"],
  listenFilters: ["taskIds"],
} as const satisfies Extension;

/** True for a final status: completed, failed or cancelled. */
export function isFinalStatus(status: TaskStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
