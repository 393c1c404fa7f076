import type { AskedQuestion } from "../../era/era.js";
import { isObject } from "../../jsonrpc/message.js";
import { checkCreateMessageResult } from "../../protocol/check-answers.js";
import { McpError } from "../../protocol/error.js";
import type {
  CreateMessageResult,
  SamplingMessage,
  SamplingMessageContentBlock,
} from "../../protocol/features/sampling.js";
import type { SampleRequest } from "../context.js";

/** A question to the client's model, with the capabilities that it needs. */
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
 * Refuses conversations that every provider would refuse: results of tools stand alone in a message of the user, and each
 * use of a tool is answered in the very next message.
 */
function checkMessages(messages: readonly SamplingMessage[]): void {
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message);
    const results = blocks.filter((block) => block.type === "tool_result");
    if (results.length > 0 && (message.role !== "user" || results.length < blocks.length)) {
      throw misuse(`messages[${index}] mixes results of tools with something else`);
    }
    const answered = results.map((block) => block.toolUseId);
    const missing = open.find((id) => !answered.includes(id));
    if (missing !== undefined) throw misuse(`messages[${index}] does not answer the use of a tool "${missing}"`);
    const stray = answered.find((id) => !open.includes(id));
    if (stray !== undefined)
      throw misuse(`messages[${index}] answers "${stray}", which the message before did not ask`);
    open = blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  }
  if (open.length > 0) throw misuse(`the use of a tool "${open[0]}" is not answered`);
}

function misuse(what: string): McpError {
  return new McpError("misuse", `a question to the model cannot be asked: ${what}`, {
    fix: "Answer each `tool_use` by a `tool_result` in the next user message, with nothing else in it.",
  });
}

/** The model's answer, checked. */
export function readSample(answer: unknown): CreateMessageResult {
  const { result, problems } = checkCreateMessageResult(answer);
  if (result !== undefined && isObject(result)) return result;
  throw new McpError(
    "invalid_params",
    `the client's answer to sampling/createMessage is malformed: ${problems.join("; ")}`,
  );
}
