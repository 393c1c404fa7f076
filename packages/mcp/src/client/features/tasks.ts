import { neverUnhandled } from "../../encoding/never-unhandled.js";
import { McpError } from "../../protocol/error.js";
import { TASKS } from "../../protocol/features/task-methods.js";
import type { DetailedTask } from "../../protocol/features/tasks.js";
import { type ClientExtensions, extensionFeature } from "../extension.js";
import type { CallOptions } from "../options.js";
import type { FollowedTask, SavedTask, TaskFeature, TaskHandle } from "../task-handle.js";
import { readToolValue, type ToolRequests } from "./tools.js";

/** Calls a tool as a task. Resolves when the server has created the task, or has answered without one. */
export function startTask<R>(
  extensions: ClientExtensions,
  tool: string,
  options: CallOptions | undefined,
  call: (options: CallOptions) => Promise<R>,
): Promise<TaskHandle<R>> {
  const feature = featureOf(extensions);
  return new Promise((resolve, reject) => {
    let demand = () => {};
    const demanded = new Promise<void>((done) => {
      demand = done;
    });
    const unbounded = { ...options, timeouts: { totalMs: Number.POSITIVE_INFINITY, ...options?.timeouts } };
    const value = call(
      feature.startOptions(unbounded, (followed) => {
        const result = () => {
          demand();
          return value;
        };
        resolve(handleOf(tool, followed, result));
        return demanded;
      }),
    );
    neverUnhandled(value).then(() => resolve(answeredAtOnce(tool, value)), reject);
  });
}

/** Finds a task again. Nothing is sent before the handle is used. */
export function findTask(extensions: ClientExtensions, tools: ToolRequests, saved: string | SavedTask): TaskHandle {
  const feature = featureOf(extensions);
  const { taskId, tool } = typeof saved === "object" && saved !== null ? saved : { taskId: saved, tool: undefined };
  if (typeof taskId !== "string" || taskId === "") {
    throw new McpError("misuse", "`client.task` got no id of a task", {
      fix: "Pass the id of a handle, or what its `toJSON` gave.",
    });
  }
  const followed = feature.follow(taskId);
  let value: Promise<unknown> | undefined;
  const result = () => {
    value ??= followed.outcome().then(
      (outcome) => readToolValue(tools, tool ?? `of task ${taskId}`, outcome),
      (error: unknown) => {
        // What failed on the way may work the next time.
        value = undefined;
        throw error;
      },
    );
    return value;
  };
  return handleOf(tool, followed, result);
}

function featureOf(extensions: ClientExtensions): TaskFeature {
  // Only the tasks extension has this id.
  return extensionFeature(extensions, TASKS.id) as TaskFeature;
}

function handleOf<R>(tool: string | undefined, followed: FollowedTask, result: () => Promise<R>): TaskHandle<R> {
  return {
    id: followed.id,
    get status() {
      return followed.task?.status ?? "working";
    },
    get task() {
      return followed.task;
    },
    result,
    cancel: (options) => followed.cancel(options),
    toJSON: () => ({ taskId: followed.id, ...(tool === undefined ? {} : { tool }) }),
    [Symbol.asyncIterator]: () => followed[Symbol.asyncIterator](),
  };
}

function answeredAtOnce<R>(tool: string, value: Promise<R>): TaskHandle<R> {
  return {
    id: undefined,
    status: "completed",
    task: undefined,
    result: () => value,
    cancel: async () => {},
    toJSON() {
      throw new McpError(
        "misuse",
        `the server answered the call of "${tool}" at once, so there is no task to find again`,
        {
          fix: "Look at `id` of the handle first.",
        },
      );
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<DetailedTask, void> {},
  };
}
