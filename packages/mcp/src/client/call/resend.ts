import { isObject } from "../../jsonrpc/message.js";
import { pause } from "../../platform/pause.js";
import type { McpError } from "../../protocol/error.js";
import type { ClientConnection } from "../connection/connection.js";
import type { PendingCall } from "./pending-call.js";

/**
 * The longest pause before a request is sent again over a transport without a connection. Randomized, so that not all
 * requests are sent again at the same time.
 */
const PAUSE_MS = 1000;

/**
 * Returns a promise to await before the call is sent again, or undefined if the call must not be sent again. `reason`
 * is the original failure, and `error` is the `McpError` created from it. Replaces a lost session in any case. May
 * throw if the connection cannot be reopened.
 *
 * Spec: Transports, "Session Management", https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export function waitBeforeResend(
  connection: ClientConnection,
  call: PendingCall,
  error: McpError,
  reason: unknown,
): Promise<void> | undefined {
  const mayResend = !call.resent && call.extras.recovering !== true;
  // If the server rejected the revision, it did not run the request, so sending it again in another revision is safe.
  const corrected =
    mayResend && call.connection !== undefined ? connection.correct(reason, call.connection) : undefined;
  if (corrected !== undefined) return corrected;
  const lostSession = error.kind === "session_lost";
  const recovery = lostSession ? connection.recover(error, call.connection) : undefined;
  if (!mayResend || !mayRepeat(connection, call, error)) return undefined;
  if (lostSession) return recovery ?? Promise.resolve();
  const wait = connection.ready();
  if (wait !== undefined) return wait;
  // If there is already a newer connection, send at once. Otherwise the transport has no connection to reopen, so
  // pause.
  return call.connection === connection.last ? spread(connection) : Promise.resolve();
}

function mayRepeat(connection: ClientConnection, call: PendingCall, error: McpError): boolean {
  const resend = call.options.resend ?? connection.options.resend ?? "idempotent";
  if (resend === "never") return false;
  const harmless = resend === "always" || call.row?.idempotent === true || call.extras.idempotent === true;
  switch (error.kind) {
    case "session_lost":
      // The server refused the request and did not run it, except if only the resumption of the request's stream was
      // refused.
      return harmless || !(isObject(error.data) && error.data["resumed"] === true);
    case "connect_failed":
      // Over HTTP the request was never sent. Over a pipe it is unknown whether it was sent.
      return harmless || call.connection?.transport.kind === "http";
    case "connection_closed":
      return harmless;
    default:
      return false;
  }
}

async function spread(connection: ClientConnection): Promise<void> {
  const { platform, closing } = connection;
  const [share = 0] = platform.randomBytes(1);
  await pause(platform, (PAUSE_MS * share) / 255, closing.signal, true);
}
