import type { ClientCapabilities } from "../protocol/capabilities.js";
import { McpError } from "../protocol/error.js";
import type { Implementation } from "../protocol/implementation.js";
import type { LoggingLevel } from "../protocol/logging.js";
import { featuresOf, isRevision, REVISIONS, type Revision, revisionsOf } from "../protocol/revisions.js";

/**
 * The state of a stateful server for one client. Plain JSON, so that any node can load the session from a shared
 * storage. Call `Peer.sessionChanged` after changing a session.
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
  /** URIs that the client has subscribed to. */
  subscriptions: string[];
}

/**
 * True if the client has finished the handshake or behaves as if it had. Some clients never send
 * `notifications/initialized`. The session of such a client counts as ready after the first request, so that the
 * session does not expire after `handshakeMs`.
 */
export function isReady(session: Session): boolean {
  return session.initialized || session.usedEarly === true;
}

/**
 * Records a request that arrived before `notifications/initialized`. By default the server accepts such a request,
 * because the specification only advises clients (SHOULD NOT) against requests before the response to `initialize`.
 * Returns true for the first such request of a session, except `ping`. Throws `invalid_request` if `early` is `refuse`.
 *
 * Spec: Lifecycle, "Initialization",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 */
export function recordEarlyRequest(session: Session, method: string, early: "serve" | "refuse" = "serve"): boolean {
  if (method === "ping" || isReady(session)) return false;
  if (early === "refuse") {
    throw new McpError("invalid_request", `"${method}" was sent before \`notifications/initialized\``, {
      fix: "Send the notification after the response to `initialize`, then send requests.",
    });
  }
  session.usedEarly = true;
  return true;
}

/** True if a server with these revisions can open sessions. */
export function opensSessions(revisions: readonly Revision[]): boolean {
  return revisionsOf("stateful", revisions).length > 0;
}

/**
 * The revision in the version header of an HTTP request that belongs to a session, or an error if the server does not
 * support that revision. The first revisions do not define the header, so a request without the header is an error only
 * if the server supports none of these revisions.
 *
 * Spec: Transports, "Protocol Version Header",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
 */
export function sessionRevision(
  header: string | undefined,
  supported: readonly Revision[] = REVISIONS,
): Revision | McpError {
  const name = header?.trim();
  if (isRevision(name) && supported.includes(name) && featuresOf(name).era === "stateful") return name;
  const known = revisionsOf("stateful", supported);
  const data = { supported: [...supported] };
  if (name === undefined) {
    const unnamed = known.find((revision) => !featuresOf(revision).versionHeader);
    const message = `the header MCP-Protocol-Version is missing; this server supports ${supported.join(", ")}`;
    return unnamed ?? new McpError("header_mismatch", message, { data });
  }
  const requested = name.slice(0, 64);
  const message = `the header MCP-Protocol-Version is ${JSON.stringify(requested)}, which is not a supported revision with sessions`;
  const kind = known.length > 0 ? "invalid_request" : "unsupported_version";
  return new McpError(kind, message, { data: { ...data, requested } });
}

/** True if the revision has batches, that is, arrays of messages. */
export function allowsBatches(revision: Revision): boolean {
  return featuresOf(revision).batch;
}

/**
 * True if an event stream begins with an empty event. The id of this event lets the client reconnect before the first
 * message.
 *
 * Spec: Transports, "Sending Messages to the Server",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
export function primesStreams(revision: Revision): boolean {
  return featuresOf(revision).primingEvent;
}
