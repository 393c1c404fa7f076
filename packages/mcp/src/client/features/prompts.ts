import type { GetPromptResult, ListPromptsResult, Prompt } from "../../protocol/features/prompts.js";
import { checkGetPromptResult, checkPromptList } from "../../protocol/results.js";
import type { Requester } from "../call/caller.js";
import { readResult } from "../call/read-result.js";
import type { CallOptions } from "../options.js";
import { walkPages } from "./pages.js";

/** One page of the server's prompts. Malformed ones are left out with a warning. */
export async function listPrompts(
  requester: Requester,
  cursor: string | undefined,
  options?: CallOptions,
): Promise<ListPromptsResult> {
  const answer = await requester.call("prompts/list", cursor === undefined ? undefined : { cursor }, options);
  return readResult(checkPromptList(answer), "the answer to prompts/list", requester);
}

export function walkPrompts(requester: Requester, options?: CallOptions): AsyncGenerator<Prompt, void, undefined> {
  return walkPages("prompts/list", async (cursor) => {
    const { prompts, nextCursor } = await listPrompts(requester, cursor, options);
    return { items: prompts, nextCursor };
  });
}

/** The messages of one prompt. */
export async function getPrompt(
  requester: Requester,
  name: string,
  args: object | undefined,
  options?: CallOptions,
): Promise<GetPromptResult> {
  const params = args === undefined ? { name } : { name, arguments: args };
  const answer = await requester.call("prompts/get", params, options);
  return readResult(checkGetPromptResult(answer), `the prompt "${name}"`, requester);
}
