import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { ContentBlock } from "../../protocol/features/content.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import { STRUCTURED_KEY, WRAPPED_KEY } from "../../protocol/meta.js";
import { blockText, textOf } from "./content.js";

/**
 * Returns the value of a tool result: structured content, or text. Throws `tool_error` if the tool failed, and
 * `invalid_response` if structured content in text form, as older revisions have it, cannot be parsed. Calls
 * `incomplete` if the text is not the whole content.
 */
export function toolValue(
  name: string,
  result: CallToolResult,
  incomplete: (content: readonly ContentBlock[]) => void,
): unknown {
  if (result.isError === true) {
    const text = textOf(result);
    throw new McpError("tool_error", text === "" ? `the tool "${name}" failed` : text, {
      data: { result },
      fix: "Show the message to the model, or change the arguments.",
    });
  }
  const { structuredContent, _meta: meta, content } = result;
  if (structuredContent !== undefined) {
    const wrapped = meta?.[WRAPPED_KEY] === true && isObject(structuredContent);
    return wrapped ? structuredContent["result"] : structuredContent;
  }
  const at = meta?.[STRUCTURED_KEY];
  if (at !== undefined) return parsed(name, result, at);
  if (content.some((block) => blockText(block) === undefined)) incomplete(content);
  return textOf(result);
}

function parsed(name: string, result: CallToolResult, at: unknown): unknown {
  const block = typeof at === "number" ? result.content[at] : undefined;
  try {
    return JSON.parse(block?.type === "text" ? block.text : "");
  } catch (error) {
    throw new McpError("invalid_response", `the result of tool "${name}" has no JSON where its output should be`, {
      cause: error,
      data: { result },
      fix: "Check for a proxy or middleware that changes results; `data.result` is this one.",
    });
  }
}
