import type { CallOptions } from "@parley/mcp";
import type { SkillFile, SkillsClient } from "@parley/mcp/skills";
import type { CallRequest } from "../contract/calls.js";
import { type CallAsTaskHooks, callAsTask } from "./call-as-task.js";
import type { CalledConnection } from "./called-connection.js";

/** What is told of a call while it runs. */
export interface PerformHooks extends CallAsTaskHooks, Required<Pick<CallOptions, "onProgress">> {
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
