import { checkOptions } from "../protocol/check-options.js";
import { McpError } from "../protocol/error.js";
import type { CallToolResult } from "../protocol/features/tools.js";
import { adaptTools, type ToolSource } from "./adapted-tools.js";
import type { FrameworkToolsOptions } from "./ai-sdk-tools.js";
import { partText, type ResultPart, resultParts, textOfResult } from "./result-parts.js";

/** One content block of a message. */
export type LangChainContent = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

/** Options of `toLangChainTools`. */
export interface LangChainToolsOptions<T> extends FrameworkToolsOptions {
  /**
   * The function `tool` of `@langchain/core/tools`. Passed in, so that this library does not depend on the package.
   */
  tool: (run: never, fields: never) => T;
}

/**
 * Creates LangChain tools. Their messages carry the content of the result, and the whole result as `artifact`. A tool
 * that fails rejects with `tool_error`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/adapters.md | Agent frameworks}
 */
export async function toLangChainTools<T>(source: ToolSource, options: LangChainToolsOptions<T>): Promise<T[]> {
  checkOptions("toLangChainTools", options, "tool schemas");
  const adapted = await adaptTools(source, options.schemas ?? "any");
  return adapted.list.map(({ name, description, arguments: { schema } }) => {
    const run = async (input: unknown, config?: { signal?: AbortSignal }): Promise<[unknown, CallToolResult]> => {
      const result = await adapted.call(name, input, { signal: config?.signal });
      if (result.isError === true) throw new McpError("tool_error", textOfResult(result));
      return [contentOf(result), result];
    };
    const fields = { name, description, schema, responseFormat: "content_and_artifact" };
    // Safe: the function accepts these arguments. Its overloads name schema libraries that this library does not depend
    // on.
    return options.tool(run as never, fields as never);
  });
}

function contentOf(result: CallToolResult): string | LangChainContent[] {
  const parts = resultParts(result);
  return parts.some(({ type }) => type === "image") ? parts.map(blockOf) : textOfResult(result);
}

function blockOf(part: ResultPart): LangChainContent {
  if (part.type !== "image") return { type: "text", text: partText(part) };
  return { type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } };
}
