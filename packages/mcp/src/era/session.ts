import type { ClientCapabilities } from "../protocol/capabilities.js";
import type { LoggingLevel } from "../protocol/features/logging.js";
import type { Implementation } from "../protocol/implementation.js";
import { featuresOf, isRevision, type Revision, revisionsOf, UNNAMED_HTTP_REVISION } from "../protocol/revisions.js";

/**
 * What a stateful server remembers about one client. Plain JSON, so that any node can continue it from a shared storage;
 * call `Peer.sessionChanged` after changing it.
 */
export interface Session {
  revision: Revision;
  clientInfo?: Implementation;
  clientCapabilities: ClientCapabilities;
  /** True after `notifications/initialized`. */
  initialized: boolean;
  /** True if a request was served before `notifications/initialized`. */
  usedEarly?: boolean;
  logLevel?: LoggingLevel;
  /** URIs that the peer subscribed to. */
  subscriptions: string[];
}

/**
 * Whether the client has finished the handshake, or behaves as if it had: some never send `notifications/initialized`, and
 * their sessions live as long as others.
 */
export function isReady(session: Session): boolean {
  return session.initialized || session.usedEarly === true;
}

/**
 * Records a request before `notifications/initialized`. It is served, because the specification asks clients to wait with
 * SHOULD NOT only. Returns true if it is the first of its session, and no `ping`.
 *
 * Spec: Lifecycle, "Initialization",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 */
export function usedEarly(session: Session, method: string): boolean {
  if (method === "ping" || isReady(session)) return false;
  session.usedEarly = true;
  return true;
}

/** Whether a server with these revisions can open sessions. */
export function opensSessions(revisions: readonly Revision[]): boolean {
  return revisionsOf("stateful", revisions).length > 0;
}

/** The revision in the version header of a session's HTTP request; undefined if that revision has no sessions. */
export function sessionRevision(header: string | undefined): Revision | undefined {
  if (header === undefined) return UNNAMED_HTTP_REVISION;
  const name = header.trim();
  return isRevision(name) && featuresOf(name).era === "stateful" ? name : undefined;
}

/** Whether an array of messages is valid input. */
export function takesBatches(revision: Revision): boolean {
  return featuresOf(revision).batch;
}

/**
 * Whether an event stream begins with an empty event, so that its client has an id to reconnect with.
 *
 * Spec: Transports, "Sending Messages to the Server",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
export function primesStreams(revision: Revision): boolean {
  return featuresOf(revision).primingEvent;
}
