import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { type ContentBlock, isContentBlock } from "../../protocol/features/content.js";
import type { GetPromptResult, PromptMessage } from "../../protocol/features/prompts.js";

/** Converts the return value of a prompt handler to the result that clients get. */
export function toPromptResult(name: string, value: unknown, description: string | undefined): GetPromptResult {
  if (isObject(value) && Array.isArray(value["messages"])) {
    const { messages, ...others } = value;
    return { ...(description === undefined ? {} : { description }), ...others, messages: toMessages(name, messages) };
  }
  return { ...(description === undefined ? {} : { description }), messages: toMessages(name, value) };
}

function toMessages(name: string, value: unknown): PromptMessage[] {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
  return parts.flatMap((part): PromptMessage[] => {
    if (!isObject(part) || isContentBlock(part)) return [{ role: "user", content: toBlock(name, part) }];
    const { role, content } = part;
    if (role === "system") throw systemRole(name);
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

function systemRole(name: string): McpError {
  return new McpError(
    "misuse",
    `the prompt "${name}" returned a message of the role \`system\`, which the protocol does not have`,
    {
      fix: "Pass the messages through `message.foldSystem(…)`, which makes it a message of the user.",
    },
  );
}

function unusable(name: string, value: unknown): McpError {
  const what = isObject(value)
    ? `an object with ${Object.keys(value).join(", ") || "no members"}`
    : `a ${typeof value}`;
  return new McpError("misuse", `the prompt "${name}" returned ${what} instead of a message`, {
    fix: "Return text, a content block, a message of `user` or `assistant`, or an array of these.",
  });
}
