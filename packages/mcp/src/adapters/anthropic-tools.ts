import { checkOptions } from "../protocol/check-options.js";
import { adaptTools, type LostParts, type ToolCallOptions, type ToolSource } from "./adapted-tools.js";
import { isSupportedImage, partText, type ResultPart, resultParts } from "./result-parts.js";

/** A tool of Anthropic's Messages API. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: "object"; [keyword: string]: unknown };
}

/** A call in a message of the model. */
export interface AnthropicCall {
  type: "tool_use";
  id: string;
  name: string;
  input: unknown;
}

/** Part of the result of a call. */
export type AnthropicContent =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: AnthropicImage; data: string } };

/** The images that models of Anthropic see. */
export type AnthropicImage = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

/** The result of a call, for the next message of the user. */
export interface AnthropicResult {
  type: "tool_result";
  tool_use_id: string;
  content: AnthropicContent[];
  is_error?: boolean;
}

/** Tools in the form of Anthropic. */
export interface AnthropicTools {
  readonly tools: AnthropicTool[];
  /** What the model does not get to know of the schemas. */
  readonly lost: readonly LostParts[];
  /**
   * Runs a call of the model. A tool that fails, an unknown name and wrong arguments are results with `is_error`; a call that does
   * not come to an end rejects.
   */
  call(call: AnthropicCall, options?: ToolCallOptions): Promise<AnthropicResult>;
}

/** Offers the tools of a client or a host to models of Anthropic, and runs their calls. */
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

/** The API refuses empty texts. */
function contentOf(part: ResultPart): AnthropicContent[] {
  if (!isSupportedImage(part)) return partText(part) === "" ? [] : [{ type: "text", text: partText(part) }];
  // Safe: `isShownImage` knows these types alone.
  const media_type = part.mimeType as AnthropicImage;
  return [{ type: "image", source: { type: "base64", media_type, data: part.data } }];
}
