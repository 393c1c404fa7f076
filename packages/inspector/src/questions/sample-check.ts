import { type CreateMessageResult, isSamplingContent, McpError } from "@parley/mcp/protocol";
import { optionalTextOf, textOf } from "../engine/read-input.js";

/** What a model answered, as the page or the configured command gave it. Throws `invalid_params` for what is no such answer. */
export function checkedSample(given: object): CreateMessageResult {
  const model = textOf(given, "model");
  const role = textOf(given, "role");
  const stopReason = optionalTextOf(given, "stopReason");
  const { content } = given as { content?: unknown };
  if (role !== "assistant" && role !== "user") throw refusal("`role` is nobody's", 'Send "assistant".');
  if (!isContent(content)) {
    throw refusal("`content` is no content of a message", 'Send a block such as { "type": "text", "text": "…" }.');
  }
  return { model, role, content, ...(stopReason === undefined ? {} : { stopReason }) };
}

function isContent(content: unknown): content is CreateMessageResult["content"] {
  return Array.isArray(content) ? content.length > 0 && content.every(isSamplingContent) : isSamplingContent(content);
}

function refusal(message: string, fix: string): McpError {
  return new McpError("invalid_params", message, { fix });
}
