import { type Soon, whenReady } from "../../../encoding/maybe-promise.js";
import { INVALID_REQUEST } from "../../../jsonrpc/error.js";
import { encodeEvent } from "../../framing/sse-encode.js";
import { acceptance } from "../server/media-type.js";
import { refusal } from "../server/refusal.js";
import type { ServerState } from "../server/state.js";
import type { Visit } from "../server/visit.js";
import { eventId, parseEventId } from "./event-id.js";
import { PRIMING } from "./event-log.js";
import { type HttpSession, STANDING } from "./session.js";
import type { SessionKeeper } from "./store.js";

/** Answers a GET: opens a standing stream, or goes on with the stream that `Last-Event-ID` names. */
export function openStream(state: ServerState, keeper: SessionKeeper, session: HttpSession, visit: Visit): Soon<void> {
  if (!acceptance(visit.incoming.header("accept")).events) {
    return visit.refuse(refusal(406, INVALID_REQUEST, "Accept must list text/event-stream"));
  }
  const lastEventId = visit.incoming.header("last-event-id");
  // Browsers send an empty one before they have seen any event.
  if (lastEventId !== undefined && lastEventId !== "") return resume(keeper, session, visit, lastEventId);
  if (session.standingCount >= state.limits.maxStreamsPerSession) {
    const reason = "the session has as many open streams as it may; close one, or come back with Last-Event-ID";
    return visit.refuse(refusal(409, INVALID_REQUEST, reason, { data: { limit: "maxStreamsPerSession" } }));
  }
  return session.stream(STANDING, false).attached
    ? openFurther(session, visit)
    : openStanding(state, keeper, session, visit);
}

/** A stream beside the first one. What nobody reads waits on the first one only. */
function openFurther(session: HttpSession, visit: Visit): void {
  const connection = visit.stream();
  if (connection === undefined) return visit.busy("maxStreams");
  const stream = session.newStream();
  stream.standing = true;
  session.tidy();
  stream.attach(connection, 0);
  if (session.primes) stream.prime();
}

function openStanding(state: ServerState, keeper: SessionKeeper, session: HttpSession, visit: Visit): Soon<void> {
  const { log, limits, logName } = keeper.home(session);
  // Checked before any header leaves: a client must learn of a gap by the status.
  return whenReady(keeper.place(session), (place) =>
    whenReady(log.read(logName(STANDING), place, 1), (read) => {
      if (!read.evicted) return attachStanding(keeper, session, visit, place, true);
      state.platform.warn(
        "messages of a session were dropped: more was said than `eventLog` holds while nobody listened",
      );
      return whenReady(log.append(logName(STANDING), PRIMING, limits), (marked) =>
        attachStanding(keeper, session, visit, marked, true),
      );
    }),
  );
}

function attachStanding(
  keeper: SessionKeeper,
  session: HttpSession,
  visit: Visit,
  place: number,
  begins: boolean,
): void {
  const connection = visit.stream();
  if (connection === undefined) return visit.busy("maxStreams");
  keeper.tell(session, { kind: "taken", stream: STANDING });
  // The place itself is the id to come back with: everything after it is still to be said.
  if (begins && session.primes) connection.write(encodeEvent({ id: eventId(STANDING, place, false), data: "" }));
  const stream = session.stream(STANDING, false);
  stream.standing = true;
  stream.attach(connection, place);
  keeper.listenHere(session);
}

function resume(keeper: SessionKeeper, session: HttpSession, visit: Visit, lastEventId: string): Soon<void> {
  const place = parseEventId(lastEventId);
  if (place === undefined) return visit.refuse(refusal(400, INVALID_REQUEST, "Last-Event-ID is no id of this server"));
  // The stream has ended with this very event: there is nothing to wait for.
  if (place.last) return visit.empty(204);
  const { log, logName } = keeper.home(session);
  return whenReady(log.read(logName(place.stream), place.after, 1), (read) => {
    // Place 0 exists in the standing stream only; in a stream that nobody knows, the log would show nothing, for ever.
    if (read.evicted || (place.after === 0 && place.stream !== STANDING)) {
      const reason = "the events after Last-Event-ID are not kept any more";
      return visit.refuse(refusal(400, INVALID_REQUEST, reason, { data: { reason: "evicted" } }));
    }
    if (place.stream === STANDING) return attachStanding(keeper, session, visit, place.after, false);
    const connection = visit.stream();
    if (connection === undefined) return visit.busy("maxStreams");
    keeper.tell(session, { kind: "taken", stream: place.stream });
    session.stream(place.stream, false).attach(connection, place.after);
  });
}
