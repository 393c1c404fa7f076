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

/** How tools are written for OpenAI. */
export interface OpenAIToolsOptions {
  /** Arguments always follow the schema, which is lowered for that. Default: true. */
  strict?: boolean | undefined;
}

/** A function tool of the Responses API. */
export interface OpenAIResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  strict: boolean;
}

/** A function tool of the Chat Completions API. */
export interface OpenAIChatTool {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown>; strict: boolean };
}

/** A call in the output of the Responses API. */
export interface OpenAIResponsesCall {
  type: "function_call";
  call_id: string;
  name: string;
  arguments: string;
}

/** A call in a message of the Chat Completions API. */
export interface OpenAIChatCall {
  type: "function";
  id: string;
  function: { name: string; arguments: string };
}

/** What the Responses API takes for a call. */
export interface OpenAIResponsesOutput {
  type: "function_call_output";
  call_id: string;
  output:
    | string
    | ({ type: "input_text"; text: string } | { type: "input_image"; image_url: string; detail: "auto" })[];
}

/** What the Chat Completions API takes for a call; it has no place for images, which are only named. */
export interface OpenAIChatOutput {
  role: "tool";
  tool_call_id: string;
  content: string;
}

/** Tools in both forms of OpenAI. */
export interface OpenAITools {
  /** For `tools` of the Responses API. */
  readonly responses: OpenAIResponsesTool[];
  /** For `tools` of the Chat Completions API. */
  readonly chat: OpenAIChatTool[];
  /** What the model does not get to know of the schemas. */
  readonly lost: readonly LostParts[];
  /**
   * Runs a call of the model and gives what the API takes as its result. A tool that fails, an unknown name and wrong arguments
   * are results that say so; a call that does not come to an end rejects.
   */
  call(call: OpenAIResponsesCall, options?: ToolCallOptions): Promise<OpenAIResponsesOutput>;
  call(call: OpenAIChatCall, options?: ToolCallOptions): Promise<OpenAIChatOutput>;
}

/** Offers the tools of a client or a host to models of OpenAI, and runs their calls. */
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
      throw new McpError("misuse", "what was given is no call of a function", {
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
    // Some models write nothing where there are no arguments.
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

/** The API has no mark for a failure, so the text says it. */
function chatContent(result: CallToolResult): string {
  return result.isError === true ? `Error: ${textOfResult(result)}` : textOfResult(result);
}
