import type { CompleteRequestParams, Completion, CompletionReference } from "../../protocol/features/completion.js";
import { checkCompleteResult } from "../../protocol/results.js";
import type { Requester } from "../call/caller.js";
import { readResult } from "../call/read-result.js";
import type { CallOptions } from "../options.js";

/** What is to be completed: an argument of a prompt, or a variable of a resource template. */
export type CompletionTarget = { prompt: string } | { resource: string };

/** Suggestions for one argument, best first. `settled` are the other arguments that are chosen already. */
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
  const answer = await requester.call("completion/complete", params, options);
  return readResult(checkCompleteResult(answer), "the completion", requester).completion;
}
