import { isObject } from "../../jsonrpc/message.js";
import { pause } from "../../platform/pause.js";
import type { McpError } from "../../protocol/error.js";
import type { ClientConnection } from "../connection/connection.js";
import type { PendingCall } from "./pending-call.js";

/**
 * The longest pause before a request is sent again over a transport without a connection. Randomized, so that callers
 * spread out.
 */
const PAUSE_MS = 1000;

/**
 * Returns a promise to wait for before a call is sent again, or undefined if it must not be. `error` is the error of
 * the call, and `reason` the value it was made from. Replaces a lost session in any case. May throw if the connection
 * cannot be reopened.
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
  // A server does not run a request in a revision that it does not support.
  const corrected =
    mayResend && call.connection !== undefined ? connection.correct(reason, call.connection) : undefined;
  if (corrected !== undefined) return corrected;
  const lostSession = error.kind === "session_lost";
  const recovery = lostSession ? connection.recover(error, call.connection) : undefined;
  if (!mayResend || !mayRepeat(connection, call, error)) return undefined;
  if (lostSession) return recovery ?? Promise.resolve();
  const wait = connection.ready();
  if (wait !== undefined) return wait;
  // There is a newer connection already, or none to wait for.
  return call.connection === connection.last ? spread(connection) : Promise.resolve();
}

function mayRepeat(connection: ClientConnection, call: PendingCall, error: McpError): boolean {
  const resend = call.options.resend ?? connection.options.resend ?? "idempotent";
  if (resend === "never") return false;
  const harmless = resend === "always" || call.row?.idempotent === true || call.extras.idempotent === true;
  switch (error.kind) {
    case "session_lost":
      // The server refused the request itself, unless the client was only resuming its stream.
      return harmless || !(isObject(error.data) && error.data["resumed"] === true);
    case "connect_failed":
      // Over HTTP the request was never sent. A pipe cannot know.
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
