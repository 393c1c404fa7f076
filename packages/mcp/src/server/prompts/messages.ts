import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { type ContentBlock, isContentBlock } from "../../protocol/features/content.js";
import type { GetPromptResult, PromptMessage } from "../../protocol/features/prompts.js";

/** What a handler returned, as the result that clients get. */
export function toPromptResult(name: string, value: unknown, description: string | undefined): GetPromptResult {
  if (isObject(value) && Array.isArray(value["messages"])) {
    const { messages, ...said } = value;
    return { ...(description === undefined ? {} : { description }), ...said, messages: toMessages(name, messages) };
  }
  return { ...(description === undefined ? {} : { description }), messages: toMessages(name, value) };
}

function toMessages(name: string, value: unknown): PromptMessage[] {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
  return parts.flatMap((part): PromptMessage[] => {
    if (!isObject(part) || isContentBlock(part)) return [{ role: "user", content: toBlock(name, part) }];
    const { role, content } = part;
    if (role !== "user" && role !== "assistant") throw unusable(name, part);
    const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
    return blocks.map((block) => ({ role, content: toBlock(name, block) }));
  });
}

function toBlock(name: string, value: unknown): ContentBlock {
  if (typeof value === "string") return { type: "text", text: value };
  if (isContentBlock(value)) return value;
  throw unusable(name, value);
}

function unusable(name: string, value: unknown): McpError {
  const what = isObject(value)
    ? `an object with ${Object.keys(value).join(", ") || "no members"}`
    : `a ${typeof value}`;
  return new McpError("misuse", `the prompt "${name}" gave ${what} where a message was due`, {
    fix: "Return text, content blocks, `user(…)` and `assistant(…)`, or an array of these.",
  });
}
