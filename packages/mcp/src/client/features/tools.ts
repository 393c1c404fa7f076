import type { ClientEra } from "../../era/era.js";
import { checkCallToolResult, checkToolList } from "../../protocol/checks/results.js";
import { McpError } from "../../protocol/error.js";
import type { ContentBlock } from "../../protocol/features/content.js";
import type { CallToolResult, ListToolsResult, Tool } from "../../protocol/features/tools.js";
import { nextCursorOf } from "../../protocol/message.js";
import { isSessionless } from "../../protocol/tool-mode.js";
import { SchemaError } from "../../schema/json-schema/schema-error.js";
import { compileValidator, type Validator } from "../../schema/json-schema/validate.js";
import { failedIn, readResult } from "../call/read-result.js";
import type { CallExtras, Requester } from "../call/requester.js";
import type { ClientConnection } from "../connection/connection.js";
import type { SessionMode } from "../contract/events.js";
import type { CallOptions } from "../contract/options.js";
import { blockText } from "./content.js";
import { walkOffers } from "./pages.js";
import { toolValue } from "./tool-value.js";

/**
 * Maximum number of stored tools of one server. Further tools can be called, but without output validation and without
 * their `extras`.
 */
const MAX_TOOLS = 10_000;
/**
 * Maximum total length of the stored output schemas of one server, in characters. Results of further tools are not
 * validated.
 */
const MAX_SCHEMA_LENGTH = 8 * 1024 * 1024;

/** The properties of a listed tool that are needed to call it. */
export interface ListedTool {
  /** The settings of every call to the tool, if any. */
  extras: CallExtras | undefined;
  outputSchema: unknown;
  /** The length of the output schema, in characters. */
  outputLength: number;
  /** The compiled schema, or the error of compiling it. Set at the first use. */
  output?: Validator | McpError;
}

/** The state of tool calls of one client. */
export interface ToolRequests {
  requester: Requester;
  connection: ClientConnection;
  /**
   * The tools that this connection has listed, by name. Cleared when the server announces changes or the connection is
   * replaced.
   */
  listed: Map<string, ListedTool>;
  /** True if no tool of the pages so far needs a session. False if the first page is empty. */
  allSessionless: boolean;
  /** The session mode after the last complete list. */
  sessionMode: SessionMode | undefined;
  /** Called when `sessionMode` has changed. */
  sessionModeChanged(mode: SessionMode): void;
  /** True if results are validated against the output schemas of listed tools. */
  checksOutput: boolean;
  /** The names of the tools for which the client has already warned about omitted blocks. */
  textOnly: Set<string>;
}

/** Returns one page of the server's tools. Omits malformed or uncallable tools with a warning. */
export async function listTools(
  calls: ToolRequests,
  cursor: string | undefined,
  options?: CallOptions,
): Promise<ListToolsResult> {
  const { requester, connection, listed } = calls;
  const answer = await requester.call("tools/list", cursor === undefined ? undefined : { cursor }, options);
  const result = readResult(checkToolList(answer), "the answer to tools/list", requester, { method: "tools/list" });
  const isSessionlessPage = result.tools.every(isSessionless);
  calls.allSessionless = isSessionlessPage && (cursor === undefined ? result.tools.length > 0 : calls.allSessionless);
  if (nextCursorOf(result) === undefined) await updateSessionMode(calls);
  const tools = rememberTools(listed, result.tools, connection.established.era, (message) => requester.warn(message));
  return tools.length === result.tools.length ? result : { ...result, tools };
}

/**
 * Updates the session mode after a complete list. If the server opened no session because no tool needed one, a new
 * tool that needs a session requires a new handshake. A server that opened a session requires the session for all
 * tools, so no new handshake is needed.
 *
 * Spec: Transports, "Session Management",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
async function updateSessionMode(calls: ToolRequests): Promise<void> {
  const { connection, sessionMode: before } = calls;
  const mode = calls.allSessionless ? "optional" : "required";
  if (mode === before) return;
  calls.sessionMode = mode;
  const { last } = connection;
  if (before === "optional" && last?.transport.hasSession === false) {
    const late = new McpError("session_lost", "the server now has tools that need a session");
    // The list succeeds in any case. If the handshake fails, the next call reopens the connection.
    await connection.recover(late, last)?.catch(() => {});
  }
  calls.sessionModeChanged(mode);
}

/** Iterates over all tools, page by page. */
export function walkTools(calls: ToolRequests, options?: CallOptions): AsyncGenerator<Tool, void, undefined> {
  return walkOffers("tools", (cursor) => listTools(calls, cursor, options));
}

/** Calls a tool and returns its full result. */
export function requestTool(
  calls: ToolRequests,
  name: string,
  args: object | undefined,
  options?: CallOptions,
  extras?: CallExtras,
): Promise<CallToolResult> {
  return request(calls, name, args, options, (answer) => readAnswer(calls, name, answer, (result) => result), extras);
}

/** Calls a tool and returns its value: structured content, or text. Rejects with `tool_error` if the tool failed. */
export function requestToolValue(
  calls: ToolRequests,
  name: string,
  args: object | undefined,
  options?: CallOptions,
): Promise<unknown> {
  return request(calls, name, args, options, (answer) => readToolValue(calls, name, answer));
}

/** Calls a tool and returns the server's answer unchecked. It may be a result type of an extension. */
export function requestToolAnswer(
  calls: ToolRequests,
  name: string,
  args: object | undefined,
  options?: CallOptions,
  extras?: CallExtras,
): Promise<unknown> {
  return request<unknown>(calls, name, args, options, (answer) => answer, extras);
}

function request<T>(
  calls: ToolRequests,
  name: string,
  args: object | undefined,
  options: CallOptions | undefined,
  read: (answer: unknown) => T,
  more?: CallExtras,
  retried = false,
): Promise<T> {
  const { requester, connection, listed } = calls;
  const known = listed.get(name)?.extras;
  const extras = more === undefined ? known : { ...known, ...more };
  // The protocol allows omitting `arguments`, but some servers validate the missing value against their schema and
  // refuse it.
  const params = { name, arguments: args ?? {} };
  return requester.call("tools/call", params, options, extras).then(read, (error: unknown) => {
    // A header mismatch can mean an outdated schema only if arguments are mirrored in headers.
    const outdated = McpError.is(error) && error.kind === "header_mismatch" && connection.last?.mirrors === true;
    if (!outdated || retried) throw error;
    return requestAfterListing(calls, name, args, options, read, more);
  });
}

/** Returns the value of a tool result, which comes from a call or from a task. */
export function readToolValue(calls: ToolRequests, name: string, answer: unknown): unknown {
  return readAnswer(calls, name, answer, (result) =>
    toolValue(name, result, (content) => warnOfBlocks(calls, name, content)),
  );
}

function readAnswer<T>(
  { requester, listed, checksOutput }: ToolRequests,
  name: string,
  answer: unknown,
  read: (result: CallToolResult) => T,
): T {
  const operation = { method: "tools/call", target: name };
  const checked = checkCallToolResult(answer);
  const result =
    checked.problems.length === 0 && checked.result !== undefined
      ? checked.result
      : readResult(checked, `the result of tool "${name}"`, requester, operation);
  try {
    const value = read(result);
    // Look the tool up only now, because the tools may have been listed while the call ran.
    const tool = checksOutput ? listed.get(name) : undefined;
    if (tool !== undefined) checkOutput(name, tool, result);
    return value;
  } catch (error) {
    throw failedIn(error, operation);
  }
}

/**
 * Lists the tools until this tool is found, then calls it once more. The schema that determines the headers was
 * outdated or never fetched.
 */
async function requestAfterListing<T>(
  calls: ToolRequests,
  name: string,
  args: object | undefined,
  options: CallOptions | undefined,
  read: (answer: unknown) => T,
  more: CallExtras | undefined,
): Promise<T> {
  const { signal } = options ?? {};
  for await (const tool of walkTools(calls, { cache: false, ...(signal === undefined ? {} : { signal }) })) {
    if (tool.name === name) break;
  }
  return request(calls, name, args, options, read, more, true);
}

/** Warns once per tool about blocks that are not part of the text value. */
function warnOfBlocks({ requester, textOnly }: ToolRequests, name: string, content: readonly ContentBlock[]): void {
  if (textOnly.has(name) || textOnly.size >= MAX_TOOLS) return;
  textOnly.add(name);
  const left = new Map<string, number>();
  for (const block of content) {
    if (blockText(block) === undefined) left.set(block.type, (left.get(block.type) ?? 0) + 1);
  }
  const blocks = [...left].map(([type, count]) => `${count} × ${type}`).join(", ");
  requester.warn(
    `\`call\` returns only the text of the result of tool "${name}", without ${blocks}; \`callTool\` returns all blocks`,
  );
}

/** Stores listed tools in `known`. Returns those that can be called, and warns about the others. */
function rememberTools(
  known: Map<string, ListedTool>,
  tools: readonly Tool[],
  era: ClientEra,
  warn: (message: string) => void,
): Tool[] {
  let room = MAX_SCHEMA_LENGTH;
  for (const { outputLength } of known.values()) room -= outputLength;
  return tools.filter((tool) => {
    const { name, inputSchema, outputSchema, annotations } = tool;
    const mirrored = era.mirroredParams(inputSchema);
    if ("problem" in mirrored) {
      warn(`the tool "${name}" was left out: ${mirrored.problem}`);
      return false;
    }
    const idempotent = annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
    const { headers } = mirrored;
    const extras = idempotent || headers.length > 0 ? { idempotent, mirrored: headers } : undefined;
    if (known.size >= MAX_TOOLS && !known.has(name)) return true;
    room += known.get(name)?.outputLength ?? 0;
    const length = outputSchema === undefined ? 0 : JSON.stringify(outputSchema).length;
    const fits = length <= room;
    if (!fits)
      warn(
        `results of the tool "${name}" are not checked: the output schemas of this server are longer than ${MAX_SCHEMA_LENGTH} characters`,
      );
    room -= fits ? length : 0;
    known.set(
      name,
      fits ? { extras, outputSchema, outputLength: length } : { extras, outputSchema: undefined, outputLength: 0 },
    );
    return true;
  });
}

/** Throws if a result does not fit the tool's output schema. Failed results are not checked. */
function checkOutput(name: string, tool: ListedTool, result: CallToolResult): void {
  if (tool.outputSchema === undefined || result.isError === true) return;
  tool.output ??= compileOutput(name, tool.outputSchema);
  if (McpError.is(tool.output)) throw tool.output;
  if (result.structuredContent === undefined) {
    throw unfit(name, "has no structuredContent, which its output schema requires", { result });
  }
  let verdict: ReturnType<Validator["validate"]>;
  try {
    verdict = tool.output.validate(result.structuredContent);
  } catch (error) {
    throw unusable(name, error);
  }
  if (verdict.valid) return;
  const issues = verdict.errors.map(({ path, message }) => `${path} ${message}`.trim());
  throw unfit(name, `does not fit its output schema: ${issues.join("; ")}`, { result, issues });
}

function compileOutput(name: string, schema: unknown): Validator | McpError {
  try {
    return compileValidator(schema);
  } catch (error) {
    return unusable(name, error);
  }
}

function unusable(name: string, error: unknown): McpError {
  if (!(error instanceof SchemaError)) throw error;
  const kind = error.code === "too_complex" ? "limit_exceeded" : "invalid_schema";
  const what = error.code === "too_complex" ? "is too complex" : "cannot be used";
  return new McpError(kind, `the output schema of tool "${name}" ${what}: ${error.message}`, {
    cause: error,
    fix: "Report it to the author of the server, or pass `checkOutput: false` to take results unchecked.",
  });
}

function unfit(name: string, what: string, data: object): McpError {
  return new McpError("invalid_response", `the result of tool "${name}" ${what}`, {
    data,
    fix: "Report it to the author of the server, or pass `checkOutput: false` to take results unchecked; `data.result` is this one.",
  });
}
