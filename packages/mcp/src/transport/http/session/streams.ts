import { encodeComment, encodeEvent } from "../../framing/sse-encode.js";
import { acceptance } from "../server/body-type.js";
import type { HttpExchange } from "../server/exchange.js";
import { refusal } from "../server/refusal.js";
import { eventId, parseEventId } from "./event-id.js";
import { followsGap, PRIMING_ENTRY } from "./log-entry.js";
import type { StartPosition } from "./reader-position.js";
import type { HttpSession } from "./session.js";
import type { SessionStore } from "./store.js";
import { GET_STREAM_ID } from "./stream-set.js";

const START = { after: 0, ahead: 0, node: "" };

/**
 * Answers a GET: opens a stream for messages that belong to no request, or resumes the stream of `Last-Event-ID`.
 *
 * Spec: Transports, "Listening for Messages from the Server",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
export async function openStream(store: SessionStore, session: HttpSession, exchange: HttpExchange): Promise<void> {
  const { accept, lastEventId } = exchange.http.protocolHeaders;
  if (!acceptance(accept).events) {
    return exchange.refuse(refusal(406, "Accept must list text/event-stream"));
  }
  // Browsers send an empty value before the first event.
  if (lastEventId !== undefined && lastEventId !== "") return resume(store, session, exchange, lastEventId);
  if (session.streams.getCount >= exchange.state.limits.maxStreamsPerSession) {
    const reason = "the session has reached its limit of open streams; close one, or resume one with Last-Event-ID";
    return exchange.refuse(refusal(409, reason, { data: { limit: "maxStreamsPerSession" } }));
  }
  if (session.stream(GET_STREAM_ID, false).attached) openFurther(session, exchange);
  else await openFirst(store, session, exchange);
}

/** Opens a further stream. Only the first one stores messages while no client reads it. */
function openFurther(session: HttpSession, exchange: HttpExchange): void {
  const connection = exchange.openEvents();
  if (connection === undefined) return exchange.busy(exchange.streamLimit);
  const stream = session.newStream();
  stream.byGet = true;
  session.tidy();
  stream.attach(connection, START);
  if (session.primes) stream.prime();
}

async function openFirst(store: SessionStore, session: HttpSession, exchange: HttpExchange): Promise<void> {
  const { log, limits, logName } = store.logs.of(session);
  // Checked before headers are sent, because the status must tell the client about a gap.
  const point = await store.logs.resumePoint(session);
  const read = await log.read(logName(GET_STREAM_ID), point, 1);
  // Another GET may have attached meanwhile.
  if (session.stream(GET_STREAM_ID, false).attached) return openStream(store, session, exchange);
  const next = read.evicted ? undefined : read.entries[0];
  const gap = next !== undefined && followsGap(next.entry) ? next.id : 0;
  if (read.evicted || gap > 0 || session.streams.get(GET_STREAM_ID)?.hasGap === true || session.missed) {
    session.missed = true;
    exchange.state.platform.warn(
      "messages of a session were dropped: there were more than `eventLog` holds while no client read them",
    );
  }
  if (!read.evicted) return attachFirst(store, session, exchange, { ...START, after: point }, gap);
  const restart = await log.append(logName(GET_STREAM_ID), PRIMING_ENTRY, limits);
  attachFirst(store, session, exchange, { ...START, after: restart }, 0);
}

function attachFirst(
  store: SessionStore,
  session: HttpSession,
  exchange: HttpExchange,
  point: StartPosition,
  bridged?: number,
): void {
  const connection = exchange.openEvents();
  if (connection === undefined) return exchange.busy(exchange.streamLimit);
  store.nodes.tell(session.id, { kind: "taken", stream: GET_STREAM_ID });
  // The client can resume from the point itself, because everything after it is still to be sent.
  if (bridged !== undefined && session.primes)
    connection.write(encodeEvent({ id: eventId(GET_STREAM_ID, point.after, false), data: "" }));
  if (session.missed) connection.write(encodeComment("messages were dropped before this point"));
  session.missed = false;
  const stream = session.stream(GET_STREAM_ID, false);
  stream.byGet = true;
  stream.hasGap = false;
  stream.attach(connection, point, bridged);
  session.releaseUnread();
  store.listenHere(session);
}

async function resume(
  store: SessionStore,
  session: HttpSession,
  exchange: HttpExchange,
  lastEventId: string,
): Promise<void> {
  const position = parseEventId(lastEventId);
  if (position === undefined) {
    return exchange.refuse(refusal(400, "Last-Event-ID is not an id of this server"));
  }
  // This event ended the stream, so there is nothing left to send.
  if (position.last) return exchange.empty(204);
  const { log, logName } = store.logs.of(session);
  const read = await log.read(logName(position.stream), position.after, 1);
  const next = read.evicted ? undefined : read.entries[0];
  const isGone =
    read.evicted ||
    (next !== undefined && followsGap(next.entry)) ||
    session.streams.get(position.stream)?.hasGap === true;
  // Position 0 exists only in the first stream, and where a client got events before anything of its stream was stored; in an
  // unknown stream, the client would wait forever.
  const isUnknown = position.after === 0 && position.ahead === 0 && position.stream !== GET_STREAM_ID;
  if (isGone || isUnknown) {
    const reason = "the events after Last-Event-ID are no longer stored";
    return exchange.refuse(refusal(400, reason, { data: { reason: "evicted" } }));
  }
  if (position.stream === GET_STREAM_ID) return attachFirst(store, session, exchange, position);
  const connection = exchange.openEvents();
  if (connection === undefined) return exchange.busy(exchange.streamLimit);
  store.nodes.tell(session.id, { kind: "taken", stream: position.stream });
  const stream = session.stream(position.stream, false);
  stream.attach(connection, position);
  store.nodes.followed(session, stream);
}
