import type { ActionAnswer, ActionInput, ActionName, ActionOutput } from "../../src/contract/actions.js";
import type { ShownProblem } from "../../src/contract/connections.js";
import type { EntryDetail } from "../../src/contract/timeline.js";
import { sharedSession } from "./shared-session.js";
import { takeTurn } from "./take-turns.js";

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

/** Actions that end when a server has answered, which may be never. All others end at once. */
const WAITS: ReadonlySet<ActionName> = new Set([
  "list",
  "offer",
  "complete",
  "subscribe",
  "unsubscribe",
  "appPage",
  "setLogLevel",
  "modelView",
  "compare",
  "replay",
]);

/** Asks the inspector to do something. Rejects with `ActionFailed`. */
export async function act<N extends ActionName>(name: N, input: ActionInput<N>): Promise<ActionOutput<N>> {
  if (sharedSession() !== undefined) {
    throw new ActionFailed({
      message: "a saved session has no inspector behind it",
      fix: "Start `parley inspect` to call servers.",
    });
  }
  const body = JSON.stringify(input);
  if (!WAITS.has(name)) return send(name, body);
  return takeTurn(serverIn(input), `${name} ${body}`, () => send(name, body));
}

/** Whose answer an action waits for. */
function serverIn(input: object): string {
  if ("connection" in input) return String(input.connection);
  return "against" in input ? String(input.against) : "";
}

async function send<N extends ActionName>(name: N, body: string): Promise<ActionOutput<N>> {
  const response = await fetch(`/api/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-parley-token": pageToken() },
    body,
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
