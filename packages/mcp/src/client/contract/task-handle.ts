import type { Some } from "../../encoding/with-defaults.js";
import type { Question } from "../../era/era.js";
import type { DetailedTask, TaskStatus } from "../../protocol/features/tasks.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import type { CallOptions, Timeouts } from "./options.js";

/** The saved form of a task handle, from `toJSON`. Pass it to `client.task` to continue, also in another process. */
export interface SavedTask {
  /** The id of the task at the server. */
  readonly taskId: string;
  /** The name of the tool that runs as the task. Absent for a task found by its id only. */
  readonly tool?: string | undefined;
}

/** Options of `result` of a task handle. */
export interface TaskWaitOptions {
  /** Ends the wait but not the task. */
  signal?: AbortSignal | undefined;
  /** `totalMs` limits the wait as a whole. Default: until the task ends. */
  timeouts?: Some<Pick<Timeouts, "totalMs">> | undefined;
}

/**
 * A tool call that runs as a task. Iterate the handle to receive each change of the task; the iteration ends with the
 * task.
 */
export interface TaskHandle<R = unknown> extends AsyncIterable<DetailedTask> {
  /** The id of the task. Undefined if the server answered at once, without a task. */
  readonly id: string | undefined;
  /** The last known status. `working` before the first poll. */
  readonly status: TaskStatus;
  /** The task as last received from the server. Undefined before the first poll, and without a task. */
  readonly task: DetailedTask | undefined;
  /**
   * Waits for the end of the task, answers its questions meanwhile, and returns the tool's value like `client.call`.
   * Rejects like `client.call`, with kind `cancelled` if the task was cancelled, and with `capability_missing` if the
   * task asks a question that this client cannot answer. A rejection does not end the task, and `result` may be called
   * again.
   */
  result(options?: TaskWaitOptions): Promise<R>;
  /** Asks the server to cancel the task. Has no effect on a task that has ended. */
  cancel(options?: CallOptions): Promise<void>;
  /** Returns the value to pass to `client.task`. Throws `misuse` without a task. */
  toJSON(): SavedTask;
}

/** A task on the server that the tasks extension polls. */
export interface FollowedTask extends AsyncIterable<DetailedTask> {
  /** The id of the task. */
  readonly id: string;
  /** The task as last received from the server. Undefined before the first poll. */
  readonly task: DetailedTask | undefined;
  /** Waits for the end of the task and answers its questions meanwhile. Rejects with the error of a failed task. */
  outcome(signal?: AbortSignal): Promise<CallToolResult>;
  /** Asks the server to cancel the task. */
  cancel(options?: CallOptions): Promise<void>;
}

/** Answers a question of a task. `signal` is aborted when the task no longer asks the question. */
export type TaskAnswerer = (question: Question, signal: AbortSignal | undefined) => Promise<object>;

/** The interface that the tasks extension adds to a client. */
export interface TaskFeature {
  /**
   * Returns options that make a call run as a task if the tool allows it. The extension calls `started` with the task,
   * and the call resolves with the server's first answer. `answer` answers the questions of the task in place of the
   * application.
   */
  startOptions(
    options: CallOptions | undefined,
    started: (task: FollowedTask) => void,
    answer?: TaskAnswerer,
  ): CallOptions;
  /** Follows an existing task by its id. Sends nothing yet. */
  follow(taskId: string): FollowedTask;
}
