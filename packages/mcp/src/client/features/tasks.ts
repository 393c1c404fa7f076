import { onAbort } from "../../platform/on-abort.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { type DetailedTask, isFinalStatus, TASKS } from "../../protocol/features/tasks.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import { cancelled, failedIn, operationOf } from "../call/read-result.js";
import { type ClientExtensions, extensionFeature } from "../contract/extension.js";
import type { CallOptions } from "../contract/options.js";
import type { FollowedTask, SavedTask, TaskFeature, TaskHandle, TaskWaitOptions } from "../contract/task-handle.js";
import { readToolValue, requestToolAnswer, type ToolRequests } from "./tools.js";

/** Calls a tool as a task. Resolves when the server has created the task, or has answered without one. */
export async function startTask(
  extensions: ClientExtensions,
  tools: ToolRequests,
  tool: string,
  args: object | undefined,
  options?: CallOptions,
): Promise<TaskHandle> {
  const unbounded = { ...options, timeouts: { totalMs: Number.POSITIVE_INFINITY, ...options?.timeouts } };
  // Middleware may send the call several times. The last task counts.
  const created: FollowedTask[] = [];
  const own = featureOf(extensions).startOptions(unbounded, (task) => created.push(task));
  try {
    const answer = await requestToolAnswer(tools, tool, args, own);
    const followed = created.at(-1);
    if (followed !== undefined) return handleOf(tools, tool, followed, options?.signal);
    return answeredAtOnce(tool, readToolValue(tools, tool, answer));
  } catch (error) {
    // The caller gets no handle, so nothing else would end the task.
    for (const task of created) task.cancel().catch(() => {});
    throw error;
  }
}

/** Returns the handle of an existing task. Sends nothing until the handle is used. */
export function findTask(extensions: ClientExtensions, tools: ToolRequests, saved: string | SavedTask): TaskHandle {
  const feature = featureOf(extensions);
  const { taskId, tool } = typeof saved === "object" && saved !== null ? saved : { taskId: saved, tool: undefined };
  if (typeof taskId !== "string" || taskId === "") {
    throw new McpError("misuse", "`client.task` got no task id", {
      fix: "Pass the `id` of a handle, or the result of its `toJSON`.",
    });
  }
  return handleOf(tools, tool, feature.follow(taskId));
}

function featureOf(extensions: ClientExtensions): TaskFeature {
  // Safe: only the tasks extension has this id.
  return extensionFeature(extensions, TASKS.id) as TaskFeature;
}

/**
 * Creates the handle of a task. `abandoned` is the signal of the call that started the task. Aborting it cancels the
 * task.
 */
function handleOf(
  tools: ToolRequests,
  tool: string | undefined,
  followed: FollowedTask,
  abandoned?: AbortSignal,
): TaskHandle {
  const abandon = () => void followed.cancel().catch(() => {});
  const unwatch = onAbort(abandoned, abandon);
  let known: { value: unknown } | undefined;
  const result = async (options: TaskWaitOptions = {}) => {
    if (known !== undefined) return known.value;
    try {
      const outcome = await waitFor(followed, tools.connection.platform, options, abandoned);
      known = { value: readToolValue(tools, tool ?? `of task ${followed.id}`, outcome) };
      return known.value;
    } catch (error) {
      throw failedIn(error, operationOf("tools/call", tool === undefined ? undefined : { name: tool }));
    } finally {
      if (followed.task !== undefined && isFinalStatus(followed.task.status)) unwatch();
    }
  };
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

async function waitFor(
  followed: FollowedTask,
  platform: Platform,
  options: TaskWaitOptions,
  abandoned: AbortSignal | undefined,
): Promise<CallToolResult> {
  checkOptions("`result` of a task", options, "signal timeouts");
  checkOptions("`timeouts`", options.timeouts, "totalMs");
  const ms = options.timeouts?.totalMs ?? Number.POSITIVE_INFINITY;
  const ended = new AbortController();
  const leaves: (() => void)[] = [];
  for (const signal of [abandoned, options.signal]) {
    if (signal === undefined) continue;
    leaves.push(onAbort(signal, () => ended.abort(cancelled("the wait for the task", signal))));
  }
  if (ms !== Number.POSITIVE_INFINITY) {
    const timer = platform.timer(ms, () => ended.abort(late(ms)));
    leaves.push(() => timer.cancel());
  }
  try {
    return await followed.outcome(ended.signal);
  } finally {
    for (const leave of leaves) leave();
  }
}

function late(ms: number): McpError {
  return new McpError("timeout", `the task did not end within ${ms} ms`, {
    data: { deadline: "total", ms },
    fix: "Wait again, or raise `timeouts.totalMs` of `result`; the task is still running.",
  });
}

function answeredAtOnce(tool: string, value: unknown): TaskHandle {
  return {
    id: undefined,
    status: "completed",
    task: undefined,
    result: async () => value,
    cancel: async () => {},
    toJSON() {
      throw new McpError("misuse", `the server answered the call of "${tool}" at once, without a task`, {
        fix: "Check that the handle has an `id` first.",
      });
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<DetailedTask, void> {},
  };
}
