import type { CallOptions } from "@parley/mcp";
import { type DetailedTask, McpError } from "@parley/mcp/protocol";
import type { FollowedTask } from "@parley/mcp/tasks";
import type { CallRequest } from "../contract/calls.js";
import type { CalledConnection } from "./called-connection.js";

/** What is told of a task. */
export interface CallAsTaskHooks {
  /** Called with the task and with each change of it, also with those after the call was cancelled. */
  onTask(task: DetailedTask): void;
}

/**
 * Calls a tool as a task and waits for its whole result, or for that of a server that answers at once. The signal cancels the task
 * at the server; a server that goes on all the same is waited for no longer, and its task is followed until it is over.
 */
export async function callAsTask(
  { client, extensions }: CalledConnection,
  { name, arguments: args }: CallRequest & { readonly kind: "tool" },
  options: CallOptions & { readonly signal: AbortSignal },
  { onTask }: CallAsTaskHooks,
): Promise<object> {
  // A list, because the compiler does not see that a callback assigns.
  const started: FollowedTask[] = [];
  const starting = client.extension(extensions.tasks).startOptions(options, (task) => started.push(task));
  try {
    return await client.callTool(name, args, starting);
  } catch (error) {
    // What the server answers with a task has no content, so that as a result of a tool it is refused.
    const task = started.at(-1);
    if (task === undefined) throw error;
    void follow(task, onTask);
    return await outcomeOf(task, options.signal);
  }
}

async function follow(followed: FollowedTask, onTask: (task: DetailedTask) => void): Promise<void> {
  try {
    for await (const task of followed) onTask(task);
  } catch {
    // The outcome fails with the same.
  }
}

async function outcomeOf(task: FollowedTask, signal: AbortSignal): Promise<object> {
  const waiting = new AbortController();
  const cancel = async () => {
    // A task that cannot be cancelled is given up by who waits for it.
    await task.cancel().catch(() => {});
    if (!isOver(task.task)) waiting.abort(new McpError("cancelled", "the call was cancelled, but its task goes on"));
  };
  const cancelled = () => void cancel();
  signal.addEventListener("abort", cancelled, { once: true });
  if (signal.aborted) cancelled();
  try {
    return await task.outcome(waiting.signal);
  } finally {
    signal.removeEventListener("abort", cancelled);
  }
}

function isOver(task: DetailedTask | undefined): boolean {
  return task?.status === "completed" || task?.status === "failed" || task?.status === "cancelled";
}
