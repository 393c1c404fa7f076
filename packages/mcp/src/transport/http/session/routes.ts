import { guarded, whenReady } from "../../../encoding/maybe-promise.js";
import type { Accepted } from "../../../era/era.js";
import { sessionRevision, takesBatches } from "../../../era/session.js";
import { INTERNAL_ERROR, INVALID_REQUEST } from "../../../jsonrpc/error.js";
import { errorText } from "../../../jsonrpc/message-text.js";
import type { Storage } from "../../../storage/storage.js";
import type { Answer } from "../../transport.js";
import { type Received, type SessionDesk, sortBatch, unknownVersion } from "../server/post.js";
import { PostReply } from "../server/post-reply.js";
import { type Refusal, refusal } from "../server/refusal.js";
import type { ServerState } from "../server/state.js";
import type { Visit } from "../server/visit.js";
import { runInSession, sessionLane } from "./exchange.js";
import { handshake } from "./handshake.js";
import type { HttpSession } from "./session.js";
import { SessionKeeper } from "./store.js";
import { openStream } from "./streams.js";

/** Serves clients that have a session: its messages and its streams. */
export function createSessionDesk(state: ServerState, storage: Storage): SessionDesk {
  const keeper = new SessionKeeper(state, storage, state.options.storage === undefined);
  const inSession = (visit: Visit, run: (session: HttpSession) => unknown) => withSession(state, keeper, visit, run);
  return {
    post(visit, item) {
      // The header alone decides: a handshake that names a session is one too many, and its session says so.
      if (visit.incoming.header("mcp-session-id") !== undefined) {
        return inSession(visit, (session) => receive(state, session, visit, item));
      }
      if (item.kind === "request" && item.accepted.opensSession) {
        return handshake(state, keeper, visit, item.accepted);
      }
      visit.refuse(noSession(item));
    },
    get: (visit) => inSession(visit, (session) => openStream(state, keeper, session, visit)),
    delete: (visit) =>
      inSession(visit, (session) => {
        keeper.end(session);
        visit.empty(204);
      }),
    close: () => keeper.close(),
  };
}

function noSession(item?: Received): Refusal {
  const id = item?.kind === "request" ? item.accepted.message.id : undefined;
  const reason = "the Mcp-Session-Id header is missing; begin with `initialize`, or name the version in `_meta`";
  return refusal(400, INVALID_REQUEST, reason, { id });
}

/** Finds the session that a request names. Unknown, ended and foreign sessions look the same to the byte. */
function withSession(
  state: ServerState,
  keeper: SessionKeeper,
  visit: Visit,
  run: (session: HttpSession) => unknown,
): void {
  const id = visit.incoming.header("mcp-session-id");
  // Spec: servers that require a session id SHOULD answer requests without one with 400, and unknown ones with 404.
  if (id === undefined) return visit.refuse(noSession());
  const failed = (error: unknown) => {
    state.platform.warn(`the session storage failed: ${String(error)}`);
    visit.refuse(refusal(500, INTERNAL_ERROR, "the session could not be read"));
  };
  guarded(
    () =>
      whenReady(keeper.find(id, visit.principal), (session) => {
        if (session === undefined) return visit.refuse(refusal(404, INVALID_REQUEST, "there is no such session"));
        if (sessionRevision(visit.incoming.header("mcp-protocol-version")) === undefined)
          return visit.refuse(unknownVersion(visit));
        // After the checks, so that refused requests keep no session alive.
        keeper.touch(session);
        run(session);
      }),
    failed,
  );
}

function receive(state: ServerState, session: HttpSession, visit: Visit, item: Received): void {
  switch (item.kind) {
    case "request":
      return one(state, session, visit, item.accepted);
    case "notification":
      state.endpoint.notification(item.message, session);
      return confirm(session, visit);
    case "result":
    case "error":
      session.answered(item.message);
      return visit.empty(202);
    case "batch":
      return many(state, session, visit, item.items);
  }
}

/** What a message changed in the session is stored before its sender can rely on it. */
function confirm(session: HttpSession, visit: Visit): void {
  if (session.saving === undefined) return visit.empty(202);
  void session.saving.then(() => visit.empty(202));
}

function one(state: ServerState, session: HttpSession, visit: Visit, accepted: Accepted): void {
  const { id } = accepted.message;
  const limit = fullLimit(state, session);
  if (limit !== undefined) return visit.busy(limit, id);
  // Two answers with one id could not be told apart, and a cancellation would end the wrong request.
  if (session.isRunning(id)) return visit.refuse(refusal(400, INVALID_REQUEST, IN_USE, { id }));
  const reply = new PostReply(state, visit, {
    openLane: (open) => sessionLane(session, open),
    leavingCancels: false,
  });
  runInSession(state, session, accepted, reply, false);
}

const IN_USE = "a request with this id is still in flight";

function fullLimit(state: ServerState, session: HttpSession): string | undefined {
  if (state.inFlight >= state.limits.maxInFlight) return "maxInFlight";
  return session.inFlight >= state.limits.maxInFlightPerSession ? "maxInFlightPerSession" : undefined;
}

function many(state: ServerState, session: HttpSession, visit: Visit, items: readonly unknown[]): void {
  if (!takesBatches(session.session.revision) || items.length === 0) {
    return visit.refuse(refusal(400, INVALID_REQUEST, "an array of messages is not accepted here"));
  }
  const limit = fullLimit(state, session);
  if (limit !== undefined) return visit.busy(limit);
  const { requests, notifications, answers, known } = sortBatch(items);
  for (const message of notifications) state.endpoint.notification(message, session);
  for (const message of answers) session.answered(message);
  const expected = requests.length + known.length;
  if (expected === 0) return confirm(session, visit);
  const reply = new PostReply(state, visit, {
    openLane: (open) => sessionLane(session, open),
    leavingCancels: false,
    batchSize: expected,
  });
  const answer = (text: string): void => reply.answer({ text } satisfies Answer);
  for (const text of known) answer(text);
  for (const message of requests) {
    if (session.isRunning(message.id)) answer(errorText(message.id, INVALID_REQUEST, IN_USE));
    else if (session.inFlight >= state.limits.maxInFlightPerSession) {
      answer(
        errorText(message.id, INTERNAL_ERROR, "too many requests are in flight", { limit: "maxInFlightPerSession" }),
      );
    } else runInSession(state, session, state.endpoint.accept(message, visit.incoming), reply, true);
  }
}
