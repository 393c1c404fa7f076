import type { CallOptions } from "@parley/mcp";
import { type DetailedTask, McpError } from "@parley/mcp/protocol";
import type { SkillFile, SkillsClient } from "@parley/mcp/skills";
import type { FollowedTask } from "@parley/mcp/tasks";
import type { CallRequest } from "../contract/calls.js";
import type { CallableConnection } from "./callable-connection.js";

/** Callbacks for a running call. */
interface PerformHooks extends CallAsTaskHooks, Required<Pick<CallOptions, "onProgress">> {
  readonly signal: AbortSignal;
}

/** Sends the request without using a cache. Returns the whole result, also if a tool failed. */
export async function performRequest(
  connection: CallableConnection,
  request: CallRequest,
  { signal, onProgress, onTask }: PerformHooks,
): Promise<object> {
  const { client } = connection;
  const options: CallOptions = { signal, onProgress, cache: false };
  switch (request.kind) {
    case "tool":
      // In the stateless era the server decides which calls become tasks, so any call may become a task.
      if (request.asTask === true || connection.info.era === "stateless")
        return callAsTask(connection, request, { ...options, signal }, { onTask });
      return client.callTool(request.name, request.arguments, options);
    case "prompt":
      return client.getPrompt(request.name, request.arguments, options);
    case "resource":
      return client.readResource(request.uri, options);
    case "skill":
      return loadSkill(client.extension(connection.extensions.skills), request.name, options);
    case "request":
      return client.request(request.method, request.params, options);
  }
}

/** Returns the name of the tool or prompt, the URI of the resource or skill, or the method. */
export function nameOf(request: CallRequest): string {
  switch (request.kind) {
    case "resource":
      return request.uri;
    case "request":
      return request.method;
    default:
      return request.name;
  }
}

/**
 * Reads a skill with all of its verified files. Returns the skill in the form of a result, with `contents` like those
 * of a resource.
 */
async function loadSkill(skills: SkillsClient, uri: string, { signal }: CallOptions): Promise<Record<string, unknown>> {
  const options: CallOptions = { signal, cache: false };
  // `dynamic` allows files without digests. That is acceptable here, because the user starts each load.
  const skill = await skills.load(uri, { ...options, dynamic: true });
  const contents: Record<string, unknown>[] = [];
  for await (const file of skill.readAll(options)) contents.push(contentsOf(file));
  return { skill: skill.entry, body: skill.body, contents };
}

function contentsOf({ uri, mimeType, bytes, text }: SkillFile): Record<string, unknown> {
  return {
    uri,
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(text === undefined ? { blob: Buffer.from(bytes).toString("base64") } : { text }),
  };
}

/** Callbacks for a task. */
interface CallAsTaskHooks {
  /** Called when the task starts and after each change, even after the call was cancelled. */
  onTask(task: DetailedTask): void;
}

/**
 * Calls a tool as a task and waits for the result. The server may also answer at once, without a task. Aborting the
 * signal cancels the task at the server. If the server does not stop the task, this rejects with `cancelled`, and
 * `onTask` is still called until the task ends.
 */
async function callAsTask(
  { client, extensions }: CallableConnection,
  { name, arguments: args }: CallRequest & { readonly kind: "tool" },
  options: CallOptions & { readonly signal: AbortSignal },
  { onTask }: CallAsTaskHooks,
): Promise<object> {
  // An array, because the compiler does not see an assignment inside a callback.
  const started: FollowedTask[] = [];
  const starting = client.extension(extensions.tasks).startOptions(options, (task) => started.push(task));
  try {
    return await client.callTool(name, args, starting);
  } catch (error) {
    // `callTool` rejects an answer that is a task, because a task has no content.
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
    // `outcomeOf` rejects with the same error and reports it.
  }
}

async function outcomeOf(task: FollowedTask, signal: AbortSignal): Promise<object> {
  const waiting = new AbortController();
  const cancel = async () => {
    // If the server cannot cancel the task, the code below stops waiting for the task.
    await task.cancel().catch(() => {});
    if (!isFinished(task.task))
      waiting.abort(new McpError("cancelled", "the call was cancelled, but its task is still running"));
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

function isFinished(task: DetailedTask | undefined): boolean {
  return task?.status === "completed" || task?.status === "failed" || task?.status === "cancelled";
}
