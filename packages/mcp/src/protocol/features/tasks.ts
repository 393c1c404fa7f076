import type { ErrorObject } from "../../jsonrpc/message.js";
import type { NotificationParams, PaginatedRequestParams, PaginatedResult, RequestParams, Result } from "../message.js";
import type { InputRequests, InputResponses } from "./input.js";

export type { RelatedTaskMetadata, TaskMetadata } from "./task-metadata.js";

/** Where a task stands; the last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** A task of the `io.modelcontextprotocol/tasks` extension. */
export interface Task {
  taskId: string;
  status: TaskStatus;
  /** A word on the status for people. */
  statusMessage?: string;
  /** An ISO 8601 time. */
  createdAt: string;
  /** An ISO 8601 time. */
  lastUpdatedAt: string;
  /** Milliseconds from its creation that the task is kept; null when there is no limit. */
  ttlMs: number | null;
  /** How long to wait between two looks, in milliseconds. */
  pollIntervalMs?: number;
}

/** A task as 2025-11-25 names its members on the wire. */
export interface LegacyTask {
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  ttl: number | null;
  pollInterval?: number;
}

/** A task that runs. */
export interface WorkingTask extends Task {
  status: "working";
}

/** A task that waits for answers. */
export interface InputRequiredTask extends Task {
  status: "input_required";
  inputRequests: InputRequests;
}

/** A task that ended with a result, which may have `isError`. */
export interface CompletedTask extends Task {
  status: "completed";
  /** What the request would have given without a task. */
  result: { [key: string]: unknown };
}

/** A task that ended with a JSON-RPC error. */
export interface FailedTask extends Task {
  status: "failed";
  error: ErrorObject;
}

/** A task that was given up. */
export interface CancelledTask extends Task {
  status: "cancelled";
}

/** A task with all that its status brings. */
export type DetailedTask = WorkingTask | InputRequiredTask | CompletedTask | FailedTask | CancelledTask;

/** The answer to a `tools/call` that became a task, by the extension. */
export interface CreateTaskResult extends Result, Task {
  resultType: "task";
}

/** The answer to a request that became a task, in 2025-11-25. */
export interface LegacyCreateTaskResult extends Result {
  task: LegacyTask;
}

/** Parameters of `tasks/get`. */
export interface GetTaskRequestParams extends RequestParams {
  taskId: string;
}

/** Result of `tasks/get` by the extension. */
export type GetTaskResult = Result & DetailedTask;

/** Result of `tasks/get` and `tasks/cancel` in 2025-11-25. */
export interface LegacyTaskResult extends Result, LegacyTask {}

/** Parameters of `tasks/result`, which waits for the end of a task. 2025-11-25 only. */
export interface GetTaskPayloadRequestParams extends RequestParams {
  taskId: string;
}

/** Result of `tasks/result`: that of the request behind the task. 2025-11-25 only. */
export interface GetTaskPayloadResult extends Result {
  [key: string]: unknown;
}

/** Parameters of `tasks/list`. 2025-11-25 only. */
export interface ListTasksRequestParams extends PaginatedRequestParams {}

/** Result of `tasks/list`. 2025-11-25 only. */
export interface ListTasksResult extends PaginatedResult {
  tasks: LegacyTask[];
}

/** Parameters of `tasks/cancel`. */
export interface CancelTaskRequestParams extends RequestParams {
  taskId: string;
}

/** Result of `tasks/cancel` by the extension: only that the wish was heard. */
export interface CancelTaskResult extends Result {}

/** Parameters of `tasks/update`, which answers a task's questions. By the extension only. */
export interface UpdateTaskRequestParams extends RequestParams {
  taskId: string;
  inputResponses: InputResponses;
}

/** Result of `tasks/update`. By the extension only. */
export interface UpdateTaskResult extends Result {}

/** Parameters of `notifications/tasks`. By the extension only. */
export type TaskNotificationParams = NotificationParams & DetailedTask;

/** Parameters of `notifications/tasks/status`. 2025-11-25 only. */
export interface TaskStatusNotificationParams extends NotificationParams, LegacyTask {}
