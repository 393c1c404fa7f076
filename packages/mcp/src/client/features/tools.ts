import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult, ListToolsResult, Tool } from "../../protocol/features/tools.js";
import { WRAPPED } from "../../protocol/meta.js";
import { checkCallToolResult, checkToolList } from "../../protocol/results.js";
import { readResult } from "../call/read-result.js";
import type { Requester } from "../call/requester.js";
import type { ClientConnection } from "../connection/connection.js";
import type { CallOptions } from "../options.js";
import { textOf } from "./content.js";
import { checkOutput, type ListedTool, learnTools } from "./listed-tools.js";
import { walkPages } from "./pages.js";

/** What calls of tools work with. */
export interface ToolRequests {
  requester: Requester;
  connection: ClientConnection;
  /** The tools that this connection has listed, by name; emptied when the server changed them or is another one. */
  listed: Map<string, ListedTool>;
  /** Whether results are checked against the output schemas of listed tools. */
  checksOutput: boolean;
}

/** One page of the server's tools. Tools that are malformed or cannot be called are left out with a warning. */
export async function listTools(
  { requester, connection, listed }: ToolRequests,
  cursor: string | undefined,
  options?: CallOptions,
): Promise<ListToolsResult> {
  const answer = await requester.call("tools/list", cursor === undefined ? undefined : { cursor }, options);
  const result = readResult(checkToolList(answer), "the answer to tools/list", requester);
  const tools = learnTools(listed, result.tools, connection.established.era, (message) => requester.warn(message));
  return tools.length === result.tools.length ? result : { ...result, tools };
}

/** All tools, page by page. */
export function walkTools(calls: ToolRequests, options?: CallOptions): AsyncGenerator<Tool, void, undefined> {
  return walkPages("tools/list", async (cursor) => {
    const { tools, nextCursor } = await listTools(calls, cursor, options);
    return { items: tools, nextCursor };
  });
}

/** Calls a tool and gives its full result. */
export function requestTool(
  calls: ToolRequests,
  name: string,
  args: object | undefined,
  options?: CallOptions,
): Promise<CallToolResult> {
  return request(calls, name, args, options, (_name, result) => result);
}

/** Calls a tool and gives its value: structured content, or text. Rejects with `tool_error` when the tool failed. */
export function requestToolValue(
  calls: ToolRequests,
  name: string,
  args: object | undefined,
  options?: CallOptions,
): Promise<unknown> {
  return request(calls, name, args, options, toolValue);
}

function request<T>(
  calls: ToolRequests,
  name: string,
  args: object | undefined,
  options: CallOptions | undefined,
  read: (name: string, result: CallToolResult) => T,
  retried = false,
): Promise<T> {
  const { requester, connection, listed, checksOutput } = calls;
  // The protocol lets `arguments` be left out; servers in the wild hold what is missing against their schema and refuse it.
  const params = { name, arguments: args ?? {} };
  return requester.call("tools/call", params, options, listed.get(name)?.extras).then(
    (answer) => {
      const result = readResult(checkCallToolResult(answer), `the result of tool "${name}"`, requester);
      const value = read(name, result);
      // The tools may have been listed while the call ran.
      const tool = checksOutput ? listed.get(name) : undefined;
      if (tool !== undefined) checkOutput(name, tool, result);
      return value;
    },
    (error: unknown) => {
      // Only where arguments travel in headers can the server find that they do not fit its schema.
      const outdated = McpError.is(error) && error.kind === "header_mismatch" && connection.current?.mirrors === true;
      if (!outdated || retried) throw error;
      return requestAfterListing(calls, name, args, options, read);
    },
  );
}

/** The schema that the headers were made from is an old one, or was never fetched: lists the tools and tries once more. */
async function requestAfterListing<T>(
  calls: ToolRequests,
  name: string,
  args: object | undefined,
  options: CallOptions | undefined,
  read: (name: string, result: CallToolResult) => T,
): Promise<T> {
  const { signal } = options ?? {};
  for await (const tool of walkTools(calls, { cache: false, ...(signal === undefined ? {} : { signal }) })) {
    if (tool.name === name) break;
  }
  return request(calls, name, args, options, read, true);
}

function toolValue(name: string, result: CallToolResult): unknown {
  if (result.isError === true) {
    const text = textOf(result);
    throw new McpError("tool_error", text === "" ? `the tool "${name}" failed` : text, {
      data: { result },
      fix: "Show the message to the model, or change the arguments.",
    });
  }
  const { structuredContent, _meta: meta } = result;
  if (structuredContent === undefined) return textOf(result);
  const wrapped = meta?.[WRAPPED] === true && isObject(structuredContent);
  return wrapped ? structuredContent["result"] : structuredContent;
}
