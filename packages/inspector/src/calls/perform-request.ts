import type { CallOptions } from "@parley/mcp";
import { type DetailedTask, McpError } from "@parley/mcp/protocol";
import type { SkillFile, SkillsClient } from "@parley/mcp/skills";
import type { FollowedTask } from "@parley/mcp/tasks";
import type { CallRequest } from "../contract/calls.js";
import type { CalledConnection } from "./called-connection.js";

/** What is told of a call while it runs. */
interface PerformHooks extends CallAsTaskHooks, Required<Pick<CallOptions, "onProgress">> {
  readonly signal: AbortSignal;
}

/** Asks the server what the user wants to know, past every cache, and gives the whole result, also that of a tool that failed. */
export async function performRequest(
  connection: CalledConnection,
  request: CallRequest,
  { signal, onProgress, onTask }: PerformHooks,
): Promise<object> {
  const { client } = connection;
  const options: CallOptions = { signal, onProgress, cache: false };
  switch (request.kind) {
    case "tool":
      // Where the server decides alone what becomes a task, each call may be one, and is shown as such.
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

/** What a call is about: the tool, prompt, URI, skill or method. */
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

/** Reads a skill with all its files, each verified, in the form of a result: `contents` are those of a resource. */
async function loadSkill(skills: SkillsClient, uri: string, { signal }: CallOptions): Promise<Record<string, unknown>> {
  const options: CallOptions = { signal, cache: false };
  // The user asks for it each time, so that files without digests may be read too.
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

/** What is told of a task. */
interface CallAsTaskHooks {
  /** Called with the task and with each change of it, also with those after the call was cancelled. */
  onTask(task: DetailedTask): void;
}

/**
 * Calls a tool as a task and waits for its whole result, or for that of a server that answers at once. The signal cancels the task
 * at the server; a server that goes on all the same is waited for no longer, and its task is followed until it is over.
 */
async function callAsTask(
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
