import { isObject } from "../jsonrpc/message.js";
import { checkOptions } from "../protocol/check-options.js";
import { McpError } from "../protocol/error.js";
import type { CallToolResult } from "../protocol/features/tools.js";
import {
  type AdaptedTools,
  adaptTools,
  type LostParts,
  type ToolCallOptions,
  type ToolSource,
} from "./adapted-tools.js";
import { isSupportedImage, partText, type ResultPart, resultParts, textOfResult } from "./result-parts.js";

/** Options of `toOpenAITools`. */
export interface OpenAIToolsOptions {
  /**
   * Converts the schemas to the subset that OpenAI's strict mode supports. In strict mode, arguments always match the
   * schema. Default: true.
   */
  strict?: boolean | undefined;
}

/** A function tool of the Responses API. */
export interface OpenAIResponsesTool {
  /** The type of the tool. */
  type: "function";
  /** The name for the model. Differs from the server's name if the API would reject that name. */
  name: string;
  /** The tool's description; its title or name if the server gave none. */
  description: string;
  /** The arguments as JSON Schema; within the limits of strict mode if `strict` is true. */
  parameters: Record<string, unknown>;
  /** The option `strict` of `toOpenAITools`. */
  strict: boolean;
}

/** A function tool of the Chat Completions API. */
export interface OpenAIChatTool {
  /** The type of the tool. */
  type: "function";
  /** The function, with the same fields as `OpenAIResponsesTool`. */
  function: { name: string; description: string; parameters: Record<string, unknown>; strict: boolean };
}

/** A function call in the output of the Responses API. */
export interface OpenAIResponsesCall {
  /** The type of the output item. */
  type: "function_call";
  /** The id of the call; the output repeats it. */
  call_id: string;
  /** The name from `OpenAIResponsesTool`. */
  name: string;
  /** The arguments as JSON text. Empty text means no arguments. */
  arguments: string;
}

/** A function call in a message of the Chat Completions API. */
export interface OpenAIChatCall {
  /** The type of the call. */
  type: "function";
  /** The id of the call; the output repeats it. */
  id: string;
  /** The name from `OpenAIChatTool`, and the arguments as JSON text. */
  function: { name: string; arguments: string };
}

/** The result of a call, for the input of the Responses API. */
export interface OpenAIResponsesOutput {
  /** The type of the input item. */
  type: "function_call_output";
  /** The `call_id` of the call. */
  call_id: string;
  /** The result as text, or as a list if it has images. A failure begins with `Error:`. */
  output:
    | string
    | ({ type: "input_text"; text: string } | { type: "input_image"; image_url: string; detail: "auto" })[];
}

/**
 * The result of a call, as a message of the Chat Completions API. The API accepts only text here, so images appear as a
 * short description.
 */
export interface OpenAIChatOutput {
  /** The role of the message. */
  role: "tool";
  /** The `id` of the call. */
  tool_call_id: string;
  /** The result as text. A failure begins with `Error:`. */
  content: string;
}

/** Tools for both APIs of OpenAI. */
export interface OpenAITools {
  /** The tools, for `tools` of the Responses API. */
  readonly responses: OpenAIResponsesTool[];
  /** The tools, for `tools` of the Chat Completions API. */
  readonly chat: OpenAIChatTool[];
  /** The constraints that the schemas for the model cannot express. */
  readonly lost: readonly LostParts[];
  /**
   * Runs a call of the model and returns its result for the same API. A failed tool, an unknown name and wrong
   * arguments give a result that begins with `Error:`. Rejects if the call gets no result, such as after a timeout.
   */
  call(call: OpenAIResponsesCall, options?: ToolCallOptions): Promise<OpenAIResponsesOutput>;
  call(call: OpenAIChatCall, options?: ToolCallOptions): Promise<OpenAIChatOutput>;
}

/**
 * Adapts the tools of a client or a host to OpenAI's APIs, and runs the model's calls.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/adapters.md | Agent frameworks}
 */
export async function toOpenAITools(source: ToolSource, options: OpenAIToolsOptions = {}): Promise<OpenAITools> {
  checkOptions("toOpenAITools", options, "strict");
  const { strict = true } = options;
  const adapted = await adaptTools(source, strict ? "openai" : "anthropic");
  const functions = adapted.list.map(({ name, description, arguments: { schema } }) => {
    return { name, description, parameters: schema, strict };
  });
  async function call(given: OpenAIResponsesCall, options?: ToolCallOptions): Promise<OpenAIResponsesOutput>;
  async function call(given: OpenAIChatCall, options?: ToolCallOptions): Promise<OpenAIChatOutput>;
  async function call(given: OpenAIResponsesCall | OpenAIChatCall, callOptions: ToolCallOptions = {}) {
    checkOptions("a call", callOptions, "signal");
    if (given.type === "function_call") {
      const result = await callWithJson(adapted, given.name, given.arguments, callOptions);
      return { type: "function_call_output", call_id: given.call_id, output: responsesOutput(result) } as const;
    }
    if (given.type !== "function" || !isObject(given.function)) {
      throw new McpError("misuse", "the argument of `call` is not a function call", {
        fix: "Pass an item of type `function_call`, or an entry of `tool_calls`.",
      });
    }
    const result = await callWithJson(adapted, given.function.name, given.function.arguments, callOptions);
    return { role: "tool", tool_call_id: given.id, content: chatContent(result) } as const;
  }
  return {
    responses: functions.map((one) => ({ type: "function", ...one })),
    chat: functions.map((one) => ({ type: "function", function: one })),
    lost: adapted.lost,
    call,
  };
}

async function callWithJson(
  adapted: AdaptedTools,
  name: string,
  text: string,
  options: ToolCallOptions,
): Promise<CallToolResult> {
  let args: unknown;
  try {
    // Some models send empty text instead of `{}`.
    args = text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    return { content: [{ type: "text", text: "The arguments are not valid JSON." }], isError: true };
  }
  return adapted.callForModel(name, args, options);
}

function responsesOutput(result: CallToolResult): OpenAIResponsesOutput["output"] {
  const parts = resultParts(result);
  if (!parts.some(isSupportedImage)) return chatContent(result);
  const failure: ResultPart[] = result.isError === true ? [{ type: "text", text: "Error:" }] : [];
  return [...failure, ...parts].map((part) =>
    isSupportedImage(part)
      ? { type: "input_image", image_url: `data:${part.mimeType};base64,${part.data}`, detail: "auto" }
      : { type: "input_text", text: partText(part) },
  );
}

/** Returns the result as text. The API has no error flag, so the text of a failure begins with `Error:`. */
function chatContent(result: CallToolResult): string {
  return result.isError === true ? `Error: ${textOfResult(result)}` : textOfResult(result);
}
