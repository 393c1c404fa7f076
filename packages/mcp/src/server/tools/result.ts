import { isThenable, type MaybePromise } from "../../encoding/maybe-promise.js";
import { isPlainJson, lostInJson } from "../../encoding/plain-json.js";
import { readable } from "../../encoding/thrown-message.js";
import { PreserializedResult } from "../../era/result-text.js";
import { isObject } from "../../jsonrpc/message.js";
import { isForCallers, McpError } from "../../protocol/error.js";
import { isBlock, isToolResult, type ToolResult } from "../../protocol/features/block.js";
import { type ContentBlock, isContentBlock } from "../../protocol/features/content.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import { describeIssues, type ParseResult } from "../../schema/parse.js";
import { publicFailure } from "../call/call-failure.js";
import type { ServerCall } from "../call/server-call.js";
import { isUrlRequired, urlRequiredFor, urlRequiredText } from "../call/url-required.js";
import { ToolError } from "../contract/tool.js";
import { result } from "./content.js";
import type { OutputParser } from "./ready-tool.js";

/** The properties of a tool that its results depend on. */
interface ToolWithOutput {
  readonly name: string;
  readonly output: OutputParser | undefined;
}

/**
 * Converts the return value of a handler to the result that clients get. Throws if the value does not match the output
 * schema.
 *
 * Spec: Tools, "Output Schema", https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
 */
export function toCallResult(tool: ToolWithOutput, returned: unknown, call: ServerCall): MaybePromise<CallToolResult> {
  const { name, output } = tool;
  const value = isWireResult(returned, output) ? fromWireResult(returned) : returned;
  if (isToolResult(value)) return fromToolResult(tool, value);
  if (output === undefined) return { content: looseContent(name, value) };
  // Middleware may change the result, so with middleware the result is serialised later.
  const written = call.straight;
  return checkOutput(name, value, output, (structured, text) =>
    written
      ? new PreserializedResult(structured, text)
      : { content: [{ type: "text", text }], structuredContent: structured },
  );
}

/** The members of a `CallToolResult` on the wire. */
const WIRE_MEMBERS = ["content", "structuredContent", "isError", "_meta", "resultType"];

/**
 * True if a value has `content`, and no members other than those of a `CallToolResult`. Handlers for the official SDK
 * return such values.
 */
function isWireResult(value: unknown, output: OutputParser | undefined): boolean {
  if (!isObject(value) || !Object.hasOwn(value, "content")) return false;
  // With an output schema, a value that only has `content` may be the structured result, so it does not count as a
  // `CallToolResult`.
  if (output !== undefined && value["structuredContent"] === undefined && value["isError"] !== true) return false;
  return Object.keys(value).every((key) => WIRE_MEMBERS.includes(key));
}

/** Converts a `CallToolResult` to the result that `result` creates. Returns any other value unchanged. */
export function fromWireResult(value: unknown): unknown {
  if (!isObject(value) || !Array.isArray(value["content"]) || !value["content"].every(isContentBlock)) return value;
  // Safe: `content` has been checked, and the optional members `isError` and `_meta` are checked below.
  const { content, structuredContent, isError, _meta } = value as unknown as CallToolResult;
  return result({
    content,
    structured: structuredContent,
    ...(isError === true ? { isError } : {}),
    ...(isObject(_meta) ? { _meta } : {}),
  });
}

function fromToolResult({ name, output }: ToolWithOutput, value: ToolResult): MaybePromise<CallToolResult> {
  const failed = value.isError === true;
  const extras = {
    ...(failed ? { isError: true } : {}),
    ...(value._meta === undefined ? {} : { _meta: value._meta }),
  };
  if (failed || (output === undefined && value.structured === undefined)) {
    return { content: [...(value.content ?? looseContent(name, value.structured))], ...extras };
  }
  const finish = (structured: unknown, text: string): CallToolResult => {
    const block: ContentBlock = { type: "text", text };
    // Older revisions only have objects as structured content, so other values must also be present as text.
    // Spec: Tools, "Structured Content",
    // https://modelcontextprotocol.io/specification/2026-07-28/server/tools#structured-content
    const own = value.content ?? [];
    const content = own.length === 0 || !(isObject(structured) || own.some((each) => each.type === "text"));
    return { content: content ? [...own, block] : [...own], structuredContent: structured, ...extras };
  };
  if (output !== undefined) return checkOutput(name, value.structured, output, finish);
  const text = jsonText(name, value.structured);
  return finish(JSON.parse(text), text);
}

function looseContent(name: string, value: unknown): ContentBlock[] {
  if (value === undefined) return [];
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (isBlock(value)) return [value];
  if (Array.isArray(value) && value.length > 0 && value.every(isBlock)) return value;
  return [{ type: "text", text: jsonText(name, value) }];
}

/** Checks the value as it is sent: after serialisation as JSON, or after parsing by the schema library. */
function checkOutput(
  name: string,
  value: unknown,
  output: OutputParser,
  finish: (structured: unknown, text: string) => CallToolResult,
): MaybePromise<CallToolResult> {
  if (!output.byLibrary) {
    const plain = isPlainJson(value);
    const text = jsonText(name, value, plain);
    const structured: unknown = plain ? value : JSON.parse(text);
    const parsed = output.parse(structured);
    if (!isThenable(parsed)) accept(name, parsed);
    return finish(structured, text);
  }
  const parsed = output.parse(value);
  const accepted = (settled: ParseResult) => {
    const structured = accept(name, settled);
    return finish(structured, jsonText(name, structured));
  };
  return isThenable(parsed) ? parsed.then(accepted) : accepted(parsed);
}

function accept(name: string, parsed: ParseResult): unknown {
  if (parsed.ok) return parsed.value;
  throw new McpError(
    "misuse",
    `the result of tool "${name}" does not fit its output schema: ${describeIssues(parsed.issues)}`,
    { fix: "Return what `output` describes, or change `output`." },
  );
}

const PLAIN_DATA =
  "Return plain data: an object or a list in place of a Map or Set, `null` for nothing, a string for a BigInt, a block of `content` for bytes.";

function jsonText(name: string, value: unknown, plain = isPlainJson(value)): string {
  let lost: ReturnType<typeof lostInJson>;
  try {
    lost = plain ? undefined : lostInJson(value);
    if (lost === undefined) return JSON.stringify(value);
  } catch (error) {
    // A getter or `toJSON` of the value threw, or the value is nested too deeply.
    throw new McpError("misuse", `the result of tool "${name}" cannot be written as JSON`, {
      cause: error,
      fix: PLAIN_DATA,
    });
  }
  const at = lost.path && ` at ${lost.path}`;
  throw new McpError("misuse", `the tool "${name}" returned ${lost.what}${at}, which JSON cannot represent`, {
    fix: PLAIN_DATA,
  });
}

/** Kinds of `McpError` that become a result for the model, because the request itself was valid. */
const FOR_THE_MODEL = ["declined", "dismissed", "timeout", "tool_error"];

/** The key in the `_meta` of a failed result that names the kind of failure, for programs. */
export const FAILURE = "dev.parley/failure";

/**
 * Converts an error of a handler to a result for the model. Rethrows protocol errors.
 *
 * Spec: Tools, "Error Handling", https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
 */
export function toErrorResult(thrown: unknown, call: ServerCall): CallToolResult {
  const error = readable(thrown);
  // An undefined `failure` means that nothing was thrown. A handler may throw undefined, which is stored as null.
  call.failure = error ?? null;
  if (ToolError.is(error)) {
    return { content: [...(error.content ?? [{ type: "text", text: error.message }])], isError: true };
  }
  if (McpError.is(error) && isForCallers(error)) return forTheModel(error, call);
  const { message, data } = publicFailure(call, error);
  return {
    content: [{ type: "text", text: message }],
    isError: true,
    ...(data === undefined ? {} : { _meta: { [FAILURE]: data } }),
  };
}

function forTheModel(error: McpError, call: ServerCall): CallToolResult {
  const unreachable = isUrlRequired(error) && !call.replays && urlRequiredFor(call, error) === undefined;
  // Revisions with sessions have no error code for a missing capability, so the model gets the text.
  const textual = FOR_THE_MODEL.includes(error.kind) || (!call.replays && error.kind === "capability_missing");
  if (!textual && !unreachable) throw error;
  return {
    content: [{ type: "text", text: unreachable ? urlRequiredText(error) : error.message }],
    isError: true,
    _meta: { [FAILURE]: { kind: error.kind } },
  };
}
