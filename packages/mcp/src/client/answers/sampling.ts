import { isObject, type Params } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";

/** Throws when a sampling request breaks a rule that the client must watch over. */
export function checkSampling(params: Params, toolsDeclared: boolean): void {
  if (!toolsDeclared && (params["tools"] !== undefined || params["toolChoice"] !== undefined)) {
    throw refuse('the request has tools, and this client did not declare "sampling.tools"');
  }
  if (typeof params["maxTokens"] !== "number") throw refuse("the request has no maxTokens");
  const { messages } = params;
  if (!Array.isArray(messages)) throw refuse("the request has no messages");
  checkToolTurns(messages);
}

/**
 * Every use of a tool is answered in the very next message, and a message with answers contains nothing else.
 *
 * Spec: Sampling, "Tool Use and Result Balance", https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#tool-use-and-result-balance
 */
function checkToolTurns(messages: readonly unknown[]): void {
  let open = new Set<unknown>();
  messages.forEach((message, index) => {
    const blocks = blocksOf(message);
    const answers = blocks.filter((block) => block["type"] === "tool_result");
    if (answers.length > 0 && answers.length < blocks.length) {
      throw refuse(`messages[${index}] mixes tool results with other content`);
    }
    for (const { toolUseId } of answers) {
      if (!open.delete(toolUseId)) throw refuse(`messages[${index}] answers the unknown tool use ${say(toolUseId)}`);
    }
    if (open.size > 0) throw refuse(`messages[${index}] leaves the tool use ${say([...open][0])} without a result`);
    open = new Set(blocks.filter((block) => block["type"] === "tool_use").map((block) => block["id"]));
  });
  if (open.size > 0) throw refuse(`the tool use ${say([...open][0])} has no result`);
}

function blocksOf(message: unknown): Record<string, unknown>[] {
  const content = isObject(message) ? message["content"] : undefined;
  return (Array.isArray(content) ? content : [content]).filter(isObject);
}

function say(id: unknown): string {
  return JSON.stringify(id) ?? "without an id";
}

function refuse(message: string): McpError {
  return new McpError("invalid_params", message, { fix: "The server has to send a request that the protocol allows." });
}
