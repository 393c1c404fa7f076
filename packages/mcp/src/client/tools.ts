import { WRAPPED } from "../era/stateful/downgrade.js";
import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import { checkCallToolResult, checkToolList } from "../protocol/results.js";
import type { CallToolResult, ListToolsResult } from "../protocol/tools.js";
import type { Caller } from "./caller.js";
import type { CallOptions } from "./options.js";

/** One page of the server's tools. A malformed tool is left out and named to `warn`. */
export async function listTools(
  caller: Caller,
  cursor: string | undefined,
  warn: (message: string) => void,
  options?: CallOptions,
): Promise<ListToolsResult> {
  const answer = await caller.call("tools/list", cursor === undefined ? undefined : { cursor }, options);
  const { result, problems } = checkToolList(answer);
  for (const problem of problems) warn(`tools/list: ${problem}`);
  if (result === undefined)
    throw new McpError("invalid_response", `the answer to tools/list is malformed: ${problems.join("; ")}`);
  return result;
}

/** Calls a tool and gives its full result. */
export async function callTool(
  caller: Caller,
  name: string,
  args: object | undefined,
  options?: CallOptions,
): Promise<CallToolResult> {
  const answer = await caller.call("tools/call", args === undefined ? { name } : { name, arguments: args }, options);
  const { result, problems } = checkCallToolResult(answer);
  if (result === undefined)
    throw new McpError("invalid_response", `the result of tool "${name}" is malformed: ${problems.join("; ")}`);
  return result;
}

/** The value of a tool's result: its structured content, or its text. Throws `tool_error` when the tool failed. */
export function toolValue(name: string, result: CallToolResult): unknown {
  const text = result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  if (result.isError === true) {
    throw new McpError("tool_error", text === "" ? `the tool "${name}" failed` : text, {
      data: { result },
      fix: "Show the message to the model, or change the arguments.",
    });
  }
  if (result.structuredContent === undefined) return text;
  const wrapped = isObject(result._meta) && result._meta[WRAPPED] === true;
  return wrapped && isObject(result.structuredContent) ? result.structuredContent["result"] : result.structuredContent;
}
