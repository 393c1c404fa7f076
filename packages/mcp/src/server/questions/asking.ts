// All that asks a client, as one part that the first question of a process loads; see `with-asking.ts`.
import type { McpError } from "../../protocol/error.js";
import type { Asker } from "../call/asker.js";
import type { ServerCall } from "../call/server-call.js";
import { visitsOf } from "../call/url-required.js";
import { Replay } from "./by-replay.js";
import { requestAsker } from "./by-request.js";
import { elicitUrl } from "./questions.js";

export { openReplay } from "./by-replay.js";
export { elicit, elicitUrl, forwardQuestion, roots, sample, tryElicit } from "./questions.js";

/** What carries the questions of a call that brings no answers. */
export function askerOf(call: ServerCall): Asker {
  return call.replays ? new Replay(call, undefined, {}) : requestAsker(call);
}

/**
 * Puts the visits to the client as questions, where questions travel in interim results. That never resolves: when the client
 * has agreed to all of them and the handler still throws, they are asked again, until the rounds of the call are used up.
 * Where answers come within the call, `run` then runs the handler again, as often as there could be rounds.
 */
export async function askForVisits<T = never>(
  call: ServerCall,
  error: McpError,
  run?: () => T | Promise<T>,
): Promise<T> {
  const visits = visitsOf(error);
  const { repeats } = call.asker;
  const isOver = repeats !== undefined && (run === undefined || repeats >= call.facts.limits.rounds);
  if (visits.length === 0 || isOver) throw error;
  // What was answered before the last run resolves at once.
  for (let asked = 0; repeats === undefined || asked <= repeats; asked++) {
    await Promise.all(visits.map(({ message, url }) => elicitUrl(call, message, url, {})));
  }
  call.asker.repeat?.();
  // Safe: without it the error was thrown above, or the loop never ends.
  return (run as () => T | Promise<T>)();
}
