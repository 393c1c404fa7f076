import { WRAPPED } from "../../era/stateful/downgrade.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult, ListToolsResult, Tool } from "../../protocol/features/tools.js";
import { checkCallToolResult, checkToolList } from "../../protocol/results.js";
import type { CallExtras, Requester } from "../call/caller.js";
import { readResult } from "../call/read-result.js";
import type { CallOptions } from "../options.js";
import { textOf } from "./content.js";
import { checkOutput, headersFor, type KnownTool, type ToolBook } from "./known-tools.js";
import { walkPages } from "./pages.js";

/** What calls of tools work with. */
export interface ToolCalls {
  requester: Requester;
  book: ToolBook;
  /** Whether results are checked against the output schemas of listed tools. */
  checksOutput: boolean;
}

/** One page of the server's tools. Tools that are malformed or cannot be called are left out with a warning. */
export async function listTools(
  { requester, book }: ToolCalls,
  cursor: string | undefined,
  options?: CallOptions,
): Promise<ListToolsResult> {
  const answer = await requester.call("tools/list", cursor === undefined ? undefined : { cursor }, options);
  const result = readResult(checkToolList(answer), "the answer to tools/list", requester);
  const tools = book.learn(result.tools, (message) => requester.warn(message));
  return tools.length === result.tools.length ? result : { ...result, tools };
}

/** All tools, page by page. */
export function walkTools(calls: ToolCalls, options?: CallOptions): AsyncGenerator<Tool, void, undefined> {
  return walkPages("tools/list", async (cursor) => {
    const { tools, nextCursor } = await listTools(calls, cursor, options);
    return { items: tools, nextCursor };
  });
}

/** Calls a tool and gives its full result. */
export function callTool(
  calls: ToolCalls,
  name: string,
  args: object | undefined,
  options?: CallOptions,
): Promise<CallToolResult> {
  const known = calls.book.get(name);
  const sent = send(calls, name, args, options, known);
  // Only where arguments travel in headers can the server find that they do not fit its schema.
  if (!calls.book.mirrors) return sent;
  return sent.catch((error: unknown) => {
    if (!McpError.is(error) || error.kind !== "header_mismatch") throw error;
    return sendAfresh(calls, name, args, options);
  });
}

function send(
  { requester, book, checksOutput }: ToolCalls,
  name: string,
  args: object | undefined,
  options: CallOptions | undefined,
  known: KnownTool | undefined,
): Promise<CallToolResult> {
  // The protocol lets `arguments` be left out; servers in the wild hold what is missing against their schema and refuse it.
  const params = { name, arguments: args ?? {} };
  return requester.call("tools/call", params, options, extrasOf(known, args)).then((answer) => {
    const result = readResult(checkCallToolResult(answer), `the result of tool "${name}"`, requester);
    // The tools may have been listed while the call ran.
    const now = checksOutput ? book.get(name) : undefined;
    if (now !== undefined) checkOutput(name, now, result);
    return result;
  });
}

function extrasOf(known: KnownTool | undefined, args: object | undefined): CallExtras | undefined {
  if (known === undefined) return undefined;
  const headers = headersFor(known, args);
  if (headers === undefined && !known.idempotent) return undefined;
  return { idempotent: known.idempotent, ...(headers === undefined ? {} : { paramHeaders: headers }) };
}

/** The schema that the headers were made from is an old one, or was never fetched: lists the tools and tries once more. */
async function sendAfresh(
  calls: ToolCalls,
  name: string,
  args: object | undefined,
  options: CallOptions | undefined,
): Promise<CallToolResult> {
  const { signal } = options ?? {};
  for await (const tool of walkTools(calls, { cache: false, ...(signal === undefined ? {} : { signal }) })) {
    if (tool.name === name) break;
  }
  return send(calls, name, args, options, calls.book.get(name));
}

/** The value of a tool's result: its structured content, or its text. Throws `tool_error` when the tool failed. */
export function toolValue(name: string, result: CallToolResult): unknown {
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
