import { checkCompleteResult, checkGetPromptResult, checkPromptList } from "../../protocol/checks/results.js";
import type { CompleteRequestParams, Completion, CompletionReference } from "../../protocol/features/completion.js";
import type { GetPromptResult, ListPromptsResult, Prompt } from "../../protocol/features/prompts.js";
import { operationOf, readResult } from "../call/read-result.js";
import type { Requester } from "../call/requester.js";
import type { CallOptions } from "../contract/options.js";
import { walkOffers } from "./pages.js";

/** Returns one page of the server's prompts. Omits malformed prompts with a warning. */
export async function listPrompts(
  requester: Requester,
  cursor: string | undefined,
  options?: CallOptions,
): Promise<ListPromptsResult> {
  const answer = await requester.call("prompts/list", cursor === undefined ? undefined : { cursor }, options);
  return readResult(checkPromptList(answer), "the answer to prompts/list", requester, { method: "prompts/list" });
}

export function walkPrompts(requester: Requester, options?: CallOptions): AsyncGenerator<Prompt, void, undefined> {
  return walkOffers("prompts", (cursor) => listPrompts(requester, cursor, options));
}

/** Returns the messages of one prompt. */
export async function getPrompt(
  requester: Requester,
  name: string,
  args: object | undefined,
  options?: CallOptions,
): Promise<GetPromptResult> {
  const params = args === undefined ? { name } : { name, arguments: args };
  const answer = await requester.call("prompts/get", params, options);
  return readResult(checkGetPromptResult(answer), `the prompt "${name}"`, requester, {
    method: "prompts/get",
    target: name,
  });
}

/**
 * The target of a completion: an argument of a prompt, by its name, or a variable of a resource template, by its URI
 * template.
 */
export type CompletionTarget = { prompt: string } | { resource: string };

/** Returns suggestions for one argument, best first. `settled` are the other arguments already chosen. */
export async function complete(
  requester: Requester,
  target: CompletionTarget,
  argument: CompleteRequestParams["argument"],
  settled: Record<string, string> | undefined,
  options?: CallOptions,
): Promise<Completion> {
  const ref: CompletionReference =
    "prompt" in target ? { type: "ref/prompt", name: target.prompt } : { type: "ref/resource", uri: target.resource };
  const params = { ref, argument, ...(settled === undefined ? {} : { context: { arguments: settled } }) };
  const method = "completion/complete";
  const answer = await requester.call(method, params, options);
  return readResult(checkCompleteResult(answer), "the completion", requester, operationOf(method, params)).completion;
}
