import { INVALID_REQUEST } from "../../../jsonrpc/error.js";
import { encodeEvent } from "../../framing/sse-encode.js";
import type { HttpExchange } from "../server/exchange.js";
import { acceptance } from "../server/media-type.js";
import { refusal } from "../server/refusal.js";
import { eventId, PRIMING, parseEventId } from "./logged-stream.js";
import { GET_STREAM_ID, type HttpSession } from "./session.js";
import type { SessionStore } from "./store.js";

/** Answers a GET: opens a stream for what belongs to no request, or goes on with the one that `Last-Event-ID` names. */
export async function openStream(store: SessionStore, session: HttpSession, exchange: HttpExchange): Promise<void> {
  const { accept, lastEventId } = exchange.http.protocolHeaders;
  if (!acceptance(accept).events) {
    return exchange.refuse(refusal(406, INVALID_REQUEST, "Accept must list text/event-stream"));
  }
  // Browsers send an empty one before they have seen any event.
  if (lastEventId !== undefined && lastEventId !== "") return resume(store, session, exchange, lastEventId);
  if (session.getStreamCount >= exchange.state.limits.maxStreamsPerSession) {
    const reason = "the session has as many open streams as it may; close one, or come back with Last-Event-ID";
    return exchange.refuse(refusal(409, INVALID_REQUEST, reason, { data: { limit: "maxStreamsPerSession" } }));
  }
  if (session.stream(GET_STREAM_ID, false).attached) openFurther(session, exchange);
  else await openFirst(store, session, exchange);
}

/** A stream beside the first one. What nobody reads waits on the first one only. */
function openFurther(session: HttpSession, exchange: HttpExchange): void {
  const connection = exchange.openEvents();
  if (connection === undefined) return exchange.busy("maxStreams");
  const stream = session.newStream();
  stream.byGet = true;
  session.tidy();
  stream.attach(connection, 0);
  if (session.primes) stream.prime();
}

async function openFirst(store: SessionStore, session: HttpSession, exchange: HttpExchange): Promise<void> {
  const { log, limits, logName } = store.streamStorage(session);
  // Checked before any header leaves: a client must learn of a gap by the status.
  const point = await store.resumePoint(session);
  const read = await log.read(logName(GET_STREAM_ID), point, 1);
  // Another GET may have been faster.
  if (session.stream(GET_STREAM_ID, false).attached) return openStream(store, session, exchange);
  if (!read.evicted) return attachFirst(store, session, exchange, point, true);
  exchange.state.platform.warn(
    "messages of a session were dropped: more was said than `eventLog` holds while nobody listened",
  );
  const marked = await log.append(logName(GET_STREAM_ID), PRIMING, limits);
  attachFirst(store, session, exchange, marked, true);
}

function attachFirst(
  store: SessionStore,
  session: HttpSession,
  exchange: HttpExchange,
  point: number,
  begins: boolean,
): void {
  const connection = exchange.openEvents();
  if (connection === undefined) return exchange.busy("maxStreams");
  store.tell(session, { kind: "taken", stream: GET_STREAM_ID });
  // The point itself is the id to come back with: everything after it is still to be sent.
  if (begins && session.primes) connection.write(encodeEvent({ id: eventId(GET_STREAM_ID, point, false), data: "" }));
  const stream = session.stream(GET_STREAM_ID, false);
  stream.byGet = true;
  stream.attach(connection, point);
  store.listenHere(session);
}

async function resume(
  store: SessionStore,
  session: HttpSession,
  exchange: HttpExchange,
  lastEventId: string,
): Promise<void> {
  const place = parseEventId(lastEventId);
  if (place === undefined) {
    return exchange.refuse(refusal(400, INVALID_REQUEST, "Last-Event-ID is not an id of this server"));
  }
  // The stream has ended with this very event: there is nothing to wait for.
  if (place.last) return exchange.empty(204);
  const { log, logName } = store.streamStorage(session);
  const read = await log.read(logName(place.stream), place.after, 1);
  // Place 0 exists in the first stream only; in a stream that nobody knows, the log would show nothing, for ever.
  if (read.evicted || (place.after === 0 && place.stream !== GET_STREAM_ID)) {
    const reason = "the events after Last-Event-ID are not kept any more";
    return exchange.refuse(refusal(400, INVALID_REQUEST, reason, { data: { reason: "evicted" } }));
  }
  if (place.stream === GET_STREAM_ID) return attachFirst(store, session, exchange, place.after, false);
  const connection = exchange.openEvents();
  if (connection === undefined) return exchange.busy("maxStreams");
  store.tell(session, { kind: "taken", stream: place.stream });
  session.stream(place.stream, false).attach(connection, place.after);
}
