import { checkOptions } from "../protocol/check-options.js";
import { adaptTools, type LostParts, type ToolCallOptions, type ToolSource } from "./adapted-tools.js";
import { isSupportedImage, partText, type ResultPart, resultParts } from "./result-parts.js";

/** A tool of Anthropic's Messages API. */
export interface AnthropicTool {
  /** The name for the model. Differs from the server's name if the API would reject that name. */
  name: string;
  /** The tool's description; its title or name if the server gave none. */
  description: string;
  /** The arguments as JSON Schema, without alternatives at the top level. */
  input_schema: { type: "object"; [keyword: string]: unknown };
}

/** A tool call in a message of the model. */
export interface AnthropicCall {
  /** The type of this content block. */
  type: "tool_use";
  /** The id of the call; `AnthropicResult` repeats it. */
  id: string;
  /** The name from `AnthropicTool`. */
  name: string;
  /** The arguments that the model wrote. */
  input: unknown;
}

/** One content block of a tool result. */
export type AnthropicContent =
  | {
      /** A text block; never empty, because the API rejects empty text. */
      type: "text";
      /** The text for the model. */
      text: string;
    }
  | {
      /** An image block. */
      type: "image";
      /** The image, as Base64. */
      source: { type: "base64"; media_type: AnthropicImage; data: string };
    };

/** The image types that Anthropic's models accept. */
export type AnthropicImage = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

/** The result of a call, for the next user message. */
export interface AnthropicResult {
  /** The type of this content block. */
  type: "tool_result";
  /** The `id` of the call. */
  tool_use_id: string;
  /** The content of the result. Audio, files and images that the API does not accept appear as a short text. */
  content: AnthropicContent[];
  /** True if the call failed. Absent otherwise. */
  is_error?: boolean;
}

/** Tools for Anthropic's Messages API. */
export interface AnthropicTools {
  /** The tools, for `tools` of a request. */
  readonly tools: AnthropicTool[];
  /** The constraints that the schemas for the model cannot express. */
  readonly lost: readonly LostParts[];
  /**
   * Runs a call of the model. A failed tool, an unknown name and wrong arguments give a result with `is_error`. Rejects
   * if the call gets no result, such as after a timeout.
   */
  call(call: AnthropicCall, options?: ToolCallOptions): Promise<AnthropicResult>;
}

/**
 * Adapts the tools of a client or a host to Anthropic's Messages API, and runs the model's calls.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/adapters.md | Agent frameworks}
 */
export async function toAnthropicTools(source: ToolSource): Promise<AnthropicTools> {
  const adapted = await adaptTools(source, "anthropic");
  return {
    tools: adapted.list.map(({ name, description, arguments: { schema } }) => {
      return { name, description, input_schema: { ...schema, type: "object" } };
    }),
    lost: adapted.lost,
    async call({ id, name, input }, options = {}) {
      checkOptions("a call", options, "signal");
      const result = await adapted.callForModel(name, input, options);
      const isError = result.isError === true ? { is_error: true } : {};
      return { type: "tool_result", tool_use_id: id, content: resultParts(result).flatMap(contentOf), ...isError };
    },
  };
}

/** Drops empty text, which the API rejects. */
function contentOf(part: ResultPart): AnthropicContent[] {
  if (!isSupportedImage(part)) return partText(part) === "" ? [] : [{ type: "text", text: partText(part) }];
  // Safe: `isSupportedImage` accepts only these types.
  const media_type = part.mimeType as AnthropicImage;
  return [{ type: "image", source: { type: "base64", media_type, data: part.data } }];
}
