import { encodeComment, encodeEvent } from "../../framing/sse-encode.js";
import { acceptance } from "../server/body-type.js";
import type { HttpExchange } from "../server/exchange.js";
import { refusal } from "../server/refusal.js";
import type { HttpSession } from "./session.js";
import type { SessionStore } from "./store.js";
import { type EventPosition, eventId, parseEventId } from "./streams/stream.js";
import { decodeEntry, GET_STREAM_ID, openingEntry } from "./streams/stream-log.js";

/**
 * Answers a GET: opens a stream for messages outside requests, or resumes the stream of `Last-Event-ID`.
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
  if (session.streams.get(GET_STREAM_ID)?.attached === true) openFurther(session, exchange);
  else await openFirst(store, session, exchange);
}

/** Opens an additional stream. Only the first GET stream stores messages while no client reads it. */
function openFurther(session: HttpSession, exchange: HttpExchange): void {
  const connection = exchange.openEvents();
  if (connection === undefined) return exchange.busy(exchange.streamLimit);
  const stream = session.streams.create();
  stream.byGet = true;
  stream.attach(connection, 0);
  if (session.primes) stream.prime();
}

async function openFirst(store: SessionStore, session: HttpSession, exchange: HttpExchange): Promise<void> {
  const { log, limits, keys } = store.logs;
  const name = keys.log(session.id, GET_STREAM_ID);
  // Read the log before sending headers, so that a storage failure becomes an error status.
  const point = await store.logs.resumePoint(session);
  const read = await log.read(name, point, 1);
  // Another GET may have attached meanwhile.
  if (session.streams.get(GET_STREAM_ID)?.attached === true) return openStream(store, session, exchange);
  const next = read.evicted ? undefined : read.entries[0];
  const gap = next !== undefined && decodeEntry(next.entry).afterGap ? next.id : 0;
  if (read.evicted || gap > 0 || session.streams.get(GET_STREAM_ID)?.hasGap === true || session.hasDropped) {
    session.hasDropped = true;
    exchange.state.platform.warn(
      "messages of a session were dropped: more arrived than `eventLog` allows while no client read them",
    );
  }
  if (!read.evicted) return attachFirst(store, session, exchange, point, gap);
  const restart = await log.append(name, openingEntry(true).stored, limits);
  attachFirst(store, session, exchange, restart, 0);
}

function attachFirst(
  store: SessionStore,
  session: HttpSession,
  exchange: HttpExchange,
  position: number,
  knownGap?: number,
): void {
  const connection = exchange.openEvents();
  if (connection === undefined) return exchange.busy(exchange.streamLimit);
  store.nodes.notify(session.id, { kind: "taken", stream: GET_STREAM_ID });
  // The client can resume from this position, because everything after it is still to be sent.
  if (knownGap !== undefined && session.primes)
    connection.write(encodeEvent({ id: eventId(GET_STREAM_ID, position), data: "" }));
  if (session.hasDropped) connection.write(encodeComment("messages were dropped before this point"));
  session.hasDropped = false;
  const stream = session.streams.open(GET_STREAM_ID);
  stream.byGet = true;
  stream.hasGap = false;
  stream.attach(connection, position, knownGap);
  session.releaseUnread();
  store.serveHere(session);
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
  if (!(await canResume(store, session, position))) {
    const reason = "the events after Last-Event-ID are no longer stored";
    return exchange.refuse(refusal(400, reason, { data: { reason: "evicted" } }));
  }
  if (position.stream === GET_STREAM_ID) return attachFirst(store, session, exchange, position.after);
  const connection = exchange.openEvents();
  if (connection === undefined) return exchange.busy(exchange.streamLimit);
  store.nodes.notify(session.id, { kind: "taken", stream: position.stream });
  const stream = session.streams.open(position.stream);
  stream.attach(connection, position.after);
  store.nodes.watchWriter(session, stream);
}

/** True if the log has, or will get, everything after a position. */
async function canResume(store: SessionStore, session: HttpSession, position: EventPosition): Promise<boolean> {
  const { stream, after } = position;
  const read = await store.logs.log.read(store.logs.keys.log(session.id, stream), after, 1);
  const known = session.streams.get(stream);
  if (read.evicted || known?.hasGap === true) return false;
  const [next] = read.entries;
  if (next !== undefined) return !decodeEntry(next.entry).afterGap;
  // Nothing is stored after the position yet. In a stream that no node will write to, the client would wait forever.
  return after > 0 || stream === GET_STREAM_ID || known?.startKnown === true || store.nodes.willWrite(stream);
}
