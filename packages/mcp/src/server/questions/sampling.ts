import type { AskedQuestion } from "../../era/era.js";
import { isObject } from "../../jsonrpc/message.js";
import { checkCreateMessageResult } from "../../protocol/checks/check-answers.js";
import { McpError } from "../../protocol/error.js";
import type {
  CreateMessageResult,
  SamplingMessage,
  SamplingMessageContentBlock,
} from "../../protocol/features/sampling.js";
import type { SampleRequest } from "../contract/context.js";

/** Creates a sampling request with the client capabilities that it needs. */
export function sampleQuestion(request: SampleRequest): AskedQuestion {
  checkMessages(request.messages);
  if (!Number.isInteger(request.maxTokens) || request.maxTokens < 1) throw misuse("`maxTokens` must be a whole number");
  const needs = ["sampling"];
  if (request.tools !== undefined || request.toolChoice !== undefined) needs.push("sampling.tools");
  if ((request.includeContext ?? "none") !== "none") needs.push("sampling.context");
  return { question: { method: "sampling/createMessage", params: { ...request } }, needs };
}

function blocksOf({ content }: SamplingMessage): readonly SamplingMessageContentBlock[] {
  return Array.isArray(content) ? content : [content];
}

/**
 * Rejects malformed conversations. A message with tool results must be a user message and contain nothing else. Each
 * tool use must have its result in the next message, and each result must belong to a tool use in the previous message.
 *
 * Spec: Sampling, "Message Content Constraints",
 * https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#message-content-constraints
 */
function checkMessages(messages: readonly SamplingMessage[]): void {
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message);
    const results = blocks.filter((block) => block.type === "tool_result");
    if (results.length > 0 && (message.role !== "user" || results.length < blocks.length)) {
      throw misuse(`messages[${index}] mixes tool results with other content`);
    }
    const answered = results.map((block) => block.toolUseId);
    const missing = open.find((id) => !answered.includes(id));
    if (missing !== undefined) throw misuse(`messages[${index}] has no result for the tool use "${missing}"`);
    const stray = answered.find((id) => !open.includes(id));
    if (stray !== undefined)
      throw misuse(`messages[${index}] has a result for "${stray}", which the previous message does not use`);
    open = blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  }
  if (open.length > 0) throw misuse(`the tool use "${open[0]}" has no result`);
}

function misuse(what: string): McpError {
  return new McpError("misuse", `the sampling request is not valid: ${what}`, {
    fix: "Answer each `tool_use` with a `tool_result` in the next user message, and put nothing else into it.",
  });
}

/** Reads the model's answer. Throws `invalid_params` if it is malformed. */
export function readSample(answer: unknown): CreateMessageResult {
  const { result, problems } = checkCreateMessageResult(answer);
  if (result !== undefined && isObject(result)) return result;
  throw new McpError(
    "invalid_params",
    `the client's answer to sampling/createMessage is malformed: ${problems.join("; ")}`,
  );
}
