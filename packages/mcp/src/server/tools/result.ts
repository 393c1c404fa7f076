import { isThenable } from "../../encoding/maybe-promise.js";
import { WrittenResult } from "../../era/result-text.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { ContentBlock } from "../../protocol/features/content.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import { describeIssues, type ParseResult } from "../../schema/parse.js";
import type { ServerCall } from "../call/server-call.js";
import { messageOf, readable } from "../call/thrown.js";
import { isUrlRequired, urlRequiredFor, urlRequiredInWords } from "../questions/url-required.js";
import { isBlock, isToolResult, type ToolResult } from "./marked-content.js";
import type { OutputParser } from "./ready-tool.js";
import { ToolError } from "./tool.js";

type Made = CallToolResult | Promise<CallToolResult>;

/** The tool, as far as its results are concerned. */
interface Returning {
  readonly name: string;
  readonly output: OutputParser | undefined;
}

/** What a handler returned, as the result that clients get. Throws when it is not what the tool promises. */
export function toCallResult(tool: Returning, value: unknown, call: ServerCall): Made {
  if (isToolResult(value)) return fromToolResult(tool, value);
  const { name, output } = tool;
  if (output === undefined) return { content: looseContent(name, value) };
  // Middleware may change what it is given, so the text must be made after it.
  const written = call.straight;
  return checked(name, value, output, (structured, text) =>
    written
      ? new WrittenResult(structured, text)
      : { content: [{ type: "text", text }], structuredContent: structured },
  );
}

function fromToolResult({ name, output }: Returning, value: ToolResult): Made {
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
    // A value that older revisions cannot hold must also be there as text.
    const own = value.content ?? [];
    const content = own.length === 0 || !(isObject(structured) || own.some((each) => each.type === "text"));
    return { content: content ? [...own, block] : [...own], structuredContent: structured, ...extras };
  };
  if (output !== undefined) return checked(name, value.structured, output, finish);
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

/** Checks what is sent, not what was returned: the value as JSON keeps it, or as the schema's library gives it. */
function checked(
  name: string,
  value: unknown,
  output: OutputParser,
  finish: (structured: unknown, text: string) => CallToolResult,
): Made {
  if (!output.byLibrary) {
    const text = jsonText(name, value);
    const structured: unknown = isPlainJson(value) ? value : JSON.parse(text);
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
    `the tool "${name}" returned what its output schema refuses: ${describeIssues(parsed.issues)}`,
    { fix: "Return what `output` describes, or change `output`." },
  );
}

function jsonText(name: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new McpError("misuse", `the tool "${name}" returned what JSON cannot hold: ${messageOf(error)}`, {
      cause: error,
      fix: "Return plain data: no BigInt, no cycles.",
    });
  }
  if (text !== undefined) return text;
  throw new McpError("misuse", `the tool "${name}" returned ${typeof value}, which JSON cannot hold`, {
    fix: "Return plain data; `null` for nothing.",
  });
}

/** Kinds of our own errors that are outcomes for the model, not faults of the request. */
const FOR_THE_MODEL = ["declined", "dismissed", "timeout", "tool_error"];

/** The key of a failed result's `_meta` that says what kind of failure it was, for programs. */
const FAILURE = "dev.parley/failure";

/** What a handler threw, as a result for the model; protocol errors are thrown on. */
export function toErrorResult(thrown: unknown, call: ServerCall): CallToolResult {
  const error = readable(thrown);
  call.failure = error;
  if (ToolError.is(error)) {
    return { content: [...(error.content ?? [{ type: "text", text: error.message }])], isError: true };
  }
  if (McpError.is(error)) return toldToTheModel(error, call);
  const message = call.facts.options.maskErrors === true ? call.facts.mask(error) : messageOf(error);
  return { content: [{ type: "text", text: message }], isError: true };
}

function toldToTheModel(error: McpError, call: ServerCall): CallToolResult {
  const unreachable = isUrlRequired(error) && !call.replays && urlRequiredFor(call, error) === undefined;
  // A client that is asked by requests has no use for the code of a missing capability, its model may have.
  const told = FOR_THE_MODEL.includes(error.kind) || (!call.replays && error.kind === "capability_missing");
  if (!told && !unreachable) throw error;
  return {
    content: [{ type: "text", text: unreachable ? urlRequiredInWords(error) : error.message }],
    isError: true,
    _meta: { [FAILURE]: { kind: error.kind } },
  };
}

/** Deeper values are treated as anything else: their text decides. */
const MAX_DEPTH = 128;

/**
 * True when JSON keeps a value exactly as it is: no `undefined`, no accessors, no classes, nothing with a `toJSON`. Several
 * times cheaper than writing and reading the value to see what is left of it.
 */
export function isPlainJson(value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      return value === null || (depth < MAX_DEPTH && holdsPlainJson(value, depth + 1));
    default:
      return false;
  }
}

function holdsPlainJson(value: object, depth: number): boolean {
  if (Array.isArray(value)) {
    if (Object.getPrototypeOf(value) !== Array.prototype) return false;
    // Not `every`, which leaves out holes.
    for (let index = 0; index < value.length; index++) if (!isPlainJson(value[index], depth)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key in value) {
    const member = Object.getOwnPropertyDescriptor(value, key);
    if (member === undefined || member.get !== undefined || !isPlainJson(member.value, depth)) return false;
  }
  return true;
}
