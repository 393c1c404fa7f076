import type { ActionAnswer, ActionInput, ActionName, ActionOutput } from "../../src/contract/actions.js";
import type { ProblemInfo } from "../../src/contract/connections.js";
import type { EntryDetail } from "../../src/contract/timeline.js";
import { queueRequest } from "./request-queue.js";
import { sharedSession } from "./shared-session.js";

/** A failed action. `problem` has the reason and the fix. */
export class ActionFailed extends Error {
  readonly problem: ProblemInfo;

  constructor(problem: ProblemInfo) {
    super(problem.message);
    this.name = "ActionFailed";
    this.problem = problem;
  }
}

const TOKEN = "parley-inspector-token";

/**
 * Returns the token that authorizes every request. Moves the token from the address to the session storage of the tab,
 * so that the token survives a reload. A cookie would be shared with the other ports of this machine.
 */
export function pageToken(): string {
  const given = new URLSearchParams(location.search).get("token");
  if (given !== null) {
    sessionStorage.setItem(TOKEN, given);
    history.replaceState(null, "", location.pathname + location.hash);
  }
  return sessionStorage.getItem(TOKEN) ?? "";
}

/** Actions that wait for a server, possibly forever. All other actions finish soon. */
const SLOW_ACTIONS: ReadonlySet<ActionName> = new Set([
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

/** Runs an action of the inspector. Rejects with `ActionFailed`. */
export async function act<N extends ActionName>(name: N, input: ActionInput<N>): Promise<ActionOutput<N>> {
  if (sharedSession() !== undefined) {
    throw new ActionFailed({
      message: "a saved session cannot reach an inspector",
      fix: "Run `parley inspect` to call servers.",
    });
  }
  const body = JSON.stringify(input);
  if (!SLOW_ACTIONS.has(name)) return send(name, body);
  return queueRequest(targetOf(input), `${name} ${body}`, () => send(name, body));
}

/** The connection whose server an action waits for. */
function targetOf(input: object): string {
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
      message: `the inspector is not responding (${String(reason)})`,
      fix: "Run `parley inspect` again and open the address it prints.",
    });
  });
  // The server side of this package sends this shape for every action, including failures.
  const answer = (await response.json()) as ActionAnswer<N>;
  if (answer.ok) return answer.value;
  throw new ActionFailed(answer.problem);
}

/**
 * Returns a timeline entry with its message: from the embedded session in a shared file, otherwise from the inspector.
 */
export async function entryDetail(seq: number): Promise<EntryDetail> {
  const shared = sharedSession();
  if (shared === undefined) return act("entry", { seq });
  const found = shared.entries.find(({ summary }) => summary.seq === seq);
  if (found === undefined) throw new Error(`this file has no entry ${seq}`);
  return found;
}
