import type { ContentBlock } from "../protocol/content.js";
import { McpError } from "../protocol/error.js";
import type { CallToolResult } from "../protocol/tools.js";
import { describeIssues, type Parser } from "../schema/parse.js";
import { isBlock, isToolResult, type ToolResult } from "./content.js";
import type { ServerCore } from "./core.js";
import { ToolError } from "./tool.js";

/** What a handler returned, as the result that clients get. */
export function toCallResult(
  name: string,
  value: unknown,
  output: Parser | undefined,
): CallToolResult | Promise<CallToolResult> {
  if (isToolResult(value)) return fromToolResult(name, value, output);
  return output === undefined ? { content: looseContent(name, value) } : structured(name, value, output, undefined);
}

function fromToolResult(
  name: string,
  value: ToolResult,
  output: Parser | undefined,
): CallToolResult | Promise<CallToolResult> {
  const extras = {
    ...(value.isError === true ? { isError: true } : {}),
    ...(value._meta === undefined ? {} : { _meta: value._meta }),
  };
  if (output === undefined || value.isError === true) {
    const content = value.content ?? looseContent(name, value.structured);
    const own = value.structured === undefined || value.isError === true ? {} : { structuredContent: value.structured };
    return { content: [...content], ...own, ...extras };
  }
  const made = structured(name, value.structured, output, value.content);
  return made instanceof Promise ? made.then((result) => ({ ...result, ...extras })) : { ...made, ...extras };
}

function looseContent(name: string, value: unknown): ContentBlock[] {
  if (value === undefined) return [];
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (isBlock(value)) return [value];
  if (Array.isArray(value) && value.length > 0 && value.every(isBlock)) return value;
  return [{ type: "text", text: jsonText(name, value) }];
}

/** Checks what is sent, not what was returned: the value as JSON keeps it. */
function structured(
  name: string,
  value: unknown,
  output: Parser,
  content: readonly ContentBlock[] | undefined,
): CallToolResult | Promise<CallToolResult> {
  const parsed = output.parse(value);
  const finish = (settled: Awaited<ReturnType<Parser["parse"]>>): CallToolResult => {
    if (!settled.ok) {
      throw new McpError(
        "internal_error",
        `the tool "${name}" returned what its output schema refuses: ${describeIssues(settled.issues)}`,
        {
          fix: "Return what `output` describes, or change `output`.",
        },
      );
    }
    const text = jsonText(name, settled.value);
    return {
      content: content === undefined ? [{ type: "text", text }] : [...content],
      structuredContent: settled.value,
    };
  };
  return parsed instanceof Promise ? parsed.then(finish) : finish(parsed);
}

function jsonText(name: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new McpError(
      "internal_error",
      `the tool "${name}" returned what JSON cannot hold: ${(error as Error).message}`,
      {
        cause: error,
        fix: "Return plain data: no BigInt, no cycles.",
      },
    );
  }
  return text ?? "null";
}

/** Kinds of our own errors that are outcomes for the model, not faults of the request. */
const FOR_THE_MODEL = ["declined", "dismissed", "timeout", "tool_error"];

/** What a handler threw, as a result for the model; protocol errors are thrown on. */
export function toErrorResult(error: unknown, core: ServerCore, asksByRequest: boolean): CallToolResult {
  if (error instanceof ToolError) {
    return { content: [...(error.content ?? [{ type: "text", text: error.message }])], isError: true };
  }
  if (McpError.is(error)) {
    // A client that is asked by requests has no use for the code of a missing capability, its model may have.
    const told = FOR_THE_MODEL.includes(error.kind) || (asksByRequest && error.kind === "capability_missing");
    if (!told) throw error;
  }
  const message = core.options.maskErrors === true && !McpError.is(error) ? core.mask(error) : messageOf(error);
  return { content: [{ type: "text", text: message }], isError: true };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
