import type { ActionAnswer, ActionInput, ActionName, ActionOutput } from "../../src/contract/actions.js";
import type { ShownProblem } from "../../src/contract/connections.js";
import type { EntryDetail } from "../../src/contract/timeline.js";
import { sharedSession } from "./shared-session.js";

/** An action that could not be done; `problem` says why, and what to change. */
export class ActionFailed extends Error {
  readonly problem: ShownProblem;

  constructor(problem: ShownProblem) {
    super(problem.message);
    this.name = "ActionFailed";
    this.problem = problem;
  }
}

const TOKEN = "parley-inspector-token";

/**
 * The token of the address, which goes with every request. It is taken out of the address at once, and kept for reloads of this tab:
 * other ports of this machine share cookies with the page, but not this storage.
 */
export function pageToken(): string {
  const given = new URLSearchParams(location.search).get("token");
  if (given !== null) {
    sessionStorage.setItem(TOKEN, given);
    history.replaceState(null, "", location.pathname + location.hash);
  }
  return sessionStorage.getItem(TOKEN) ?? "";
}

/** Asks the inspector to do something. Rejects with `ActionFailed`. */
export async function act<N extends ActionName>(name: N, input: ActionInput<N>): Promise<ActionOutput<N>> {
  if (sharedSession() !== undefined) {
    throw new ActionFailed({
      message: "a saved session has no inspector behind it",
      fix: "Start `parley inspect` to call servers.",
    });
  }
  const response = await fetch(`/api/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-parley-token": pageToken() },
    body: JSON.stringify(input),
  }).catch((reason: unknown) => {
    throw new ActionFailed({
      message: `the inspector does not answer (${String(reason)})`,
      fix: "Start `parley inspect` again, and open the address that it prints.",
    });
  });
  // The server side of the same package answers every action so, failures included.
  const answer = (await response.json()) as ActionAnswer<N>;
  if (answer.ok) return answer.value;
  throw new ActionFailed(answer.problem);
}

/** An entry of the timeline as a whole: from the session that the page was saved with, or else from the inspector. */
export async function entryDetail(seq: number): Promise<EntryDetail> {
  const shared = sharedSession();
  if (shared === undefined) return act("entry", { seq });
  const found = shared.entries.find(({ summary }) => summary.seq === seq);
  if (found === undefined) throw new Error(`this file has no entry ${seq}`);
  return found;
}
