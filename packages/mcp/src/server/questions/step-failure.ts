import { type ErrorKind, McpError } from "../../protocol/error.js";
import { messageOf } from "../call/thrown.js";
import { ToolError } from "../tools/tool.js";

/** What is remembered of an error that a step threw: enough to throw one of the same kind in a later round. */
export interface StepFailure {
  name: string;
  message: string;
  mcp?: { kind: ErrorKind; code: number; data?: unknown };
  tool?: { content?: ToolError["content"] };
}

/** What to remember of an error. */
export function recordFailure(error: unknown): StepFailure {
  const said = { name: error instanceof Error ? error.name : "Error", message: messageOf(error) };
  if (ToolError.is(error)) return { ...said, tool: { content: error.content } };
  if (!McpError.is(error)) return said;
  const { kind, code, data } = error;
  return { ...said, mcp: { kind, code, data: asJson(data) } };
}

/** The error that a later round throws in place of the first one. */
export function reviveFailure({ name, message, mcp, tool }: StepFailure): Error {
  if (mcp !== undefined) return new McpError(mcp.kind, message, { code: mcp.code, data: mcp.data });
  if (tool !== undefined) return new ToolError(message, tool.content === undefined ? {} : { content: tool.content });
  return Object.assign(new Error(message), { name });
}

/** What JSON cannot hold is left out: the failure itself matters more than what it carries. */
function asJson(data: unknown): unknown {
  try {
    return data === undefined ? undefined : JSON.parse(JSON.stringify(data) ?? "null");
  } catch {
    return undefined;
  }
}
