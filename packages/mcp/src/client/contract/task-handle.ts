import type { Some } from "../../encoding/with-defaults.js";
import type { Question } from "../../era/era.js";
import type { DetailedTask, TaskStatus } from "../../protocol/features/tasks.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import type { CallOptions, Timeouts } from "./options.js";

/** What is kept of a task to find it again from another process: `client.task(saved)`. */
export interface SavedTask {
  readonly taskId: string;
  /** The tool that runs as the task. */
  readonly tool?: string | undefined;
}

/** How one waits for a task. */
export interface TaskWaitOptions {
  /** Ends the wait, and not the task. */
  signal?: AbortSignal | undefined;
  /** `totalMs` bounds the wait as a whole. Default: until the task is over. */
  timeouts?: Some<Pick<Timeouts, "totalMs">> | undefined;
}

/** A tool that runs as a task. Iterate it for each change of the task; the iteration ends with the task. */
export interface TaskHandle<R = unknown> extends AsyncIterable<DetailedTask, void> {
  /** Identifies the task; undefined if the server answered at once, without a task. */
  readonly id: string | undefined;
  /** The status when the task was last looked at; `working` before the first look. */
  readonly status: TaskStatus;
  /** The task when it was last looked at; undefined before the first look, and without a task. */
  readonly task: DetailedTask | undefined;
  /**
   * Waits until the task is over, answers its questions meanwhile, and gives the value of the tool as `client.call` does. Rejects
   * as `client.call` does, with kind `cancelled` for a task that was cancelled, and with `capability_missing` while the task asks
   * what this client cannot answer. No rejection ends the task, and after each one may wait again.
   */
  result(options?: TaskWaitOptions): Promise<R>;
  /** Asks the server to cancel the task. A task that is over stays as it is. */
  cancel(options?: CallOptions): Promise<void>;
  /** What `client.task` takes. */
  toJSON(): SavedTask;
}

/** One task of the server, as the tasks extension follows it. */
export interface FollowedTask extends AsyncIterable<DetailedTask, void> {
  readonly id: string;
  readonly task: DetailedTask | undefined;
  /** Waits until the task is over and answers its questions meanwhile. Rejects with the error of a task that failed. */
  outcome(signal?: AbortSignal): Promise<CallToolResult>;
  cancel(options?: CallOptions): Promise<void>;
}

/** Answers a question of a task; `signal` is aborted when the task no longer asks it. */
export type TaskAnswerer = (question: Question, signal: AbortSignal | undefined) => Promise<object>;

/** What the tasks extension adds to a client. */
export interface TaskFeature {
  /**
   * Calls with these options run as tasks where the tool allows it. `started` is called with the task, and the call ends with what
   * the server answered. `answer` answers the questions that the task shows, in place of the application.
   */
  startOptions(
    options: CallOptions | undefined,
    started: (task: FollowedTask) => void,
    answer?: TaskAnswerer,
  ): CallOptions;
  /** Follows a task by its id. */
  follow(taskId: string): FollowedTask;
}
