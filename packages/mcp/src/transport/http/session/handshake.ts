import { guarded, type Soon, whenReady } from "../../../encoding/maybe-promise.js";
import type { Accepted } from "../../../era/era.js";
import { INTERNAL_ERROR } from "../../../jsonrpc/error.js";
import { encodeEvent } from "../../framing/sse-encode.js";
import type { Answer, Exchange } from "../../transport.js";
import { LazyAbort } from "../server/lazy-abort.js";
import { failedAnswer, refusal } from "../server/refusal.js";
import type { ServerState } from "../server/state.js";
import type { Visit } from "../server/visit.js";
import type { SessionKeeper } from "./store.js";

/**
 * Runs the request that opens a session. Its reply carries the session's id in a header, so that nothing may leave before
 * the answer is known: what is said on the way waits.
 */
export function handshake(state: ServerState, keeper: SessionKeeper, visit: Visit, accepted: Accepted): void {
  const { id } = accepted.message;
  if (state.inFlight >= state.limits.maxInFlight) return visit.busy("maxInFlight", id);
  // Asked before the handshake runs: a session that cannot be kept must not be promised.
  if (!keeper.hasRoom()) return visit.busy("maxSessions", id);
  const said: string[] = [];
  const abort = new LazyAbort();
  const exchange: Exchange = {
    id,
    get signal() {
      return abort.signal;
    },
    http: visit.incoming,
    principal: visit.principal,
    say: (text) => void said.push(text),
  };
  state.inFlight += 1;
  guarded(
    () =>
      whenReady(answerOf(state, accepted, exchange), (answer) =>
        whenReady(open(keeper, visit, answer), (headers) => {
          state.inFlight -= 1;
          reply(visit, answer, headers, said);
        }),
      ),
    (error) => {
      state.inFlight -= 1;
      state.platform.warn(`the session storage failed: ${String(error)}`);
      visit.refuse(refusal(500, INTERNAL_ERROR, "the session could not be stored", { id }));
    },
  );
}

function answerOf(state: ServerState, accepted: Accepted, exchange: Exchange): Soon<Answer> {
  const failed = (error: unknown) => failedAnswer(state.platform, accepted.message.id, error);
  try {
    const answer = state.endpoint.request(accepted, exchange);
    return answer instanceof Promise ? answer.catch(failed) : answer;
  } catch (error) {
    return failed(error);
  }
}

function open(keeper: SessionKeeper, visit: Visit, answer: Answer): Soon<string[]> {
  if (answer.opens === undefined) return [];
  return whenReady(keeper.create(answer.opens, visit.principal), (session) => ["mcp-session-id", session.id]);
}

function reply(visit: Visit, answer: Answer, headers: string[], said: readonly string[]): void {
  const connection = said.length === 0 ? undefined : visit.stream(headers);
  if (connection === undefined) return visit.answer(answer, headers);
  for (const text of said) connection.write(encodeEvent({ data: text }));
  connection.write(encodeEvent({ data: answer.text }));
  connection.end();
}
