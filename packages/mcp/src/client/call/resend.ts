import { isObject } from "../../jsonrpc/message.js";
import { pause } from "../../platform/pause.js";
import type { McpError } from "../../protocol/error.js";
import type { ClientConnection } from "../connection/connection.js";
import type { PendingCall } from "./pending-call.js";

/** Before a request is sent again over a transport that has no connection to lose; jittered, so that callers spread. */
const PAUSE_MS = 1000;

/**
 * What a call that ended in `error`, made of `reason`, has to wait for before it is sent once more; undefined when it must not be. Sees to it that a
 * lost session is replaced in any case. May throw when there is no way back.
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
  // A request in a revision that the server does not support was refused, so that it never ran.
  const corrected =
    mayResend && call.connection !== undefined ? connection.correct(reason, call.connection) : undefined;
  if (corrected !== undefined) return corrected;
  const lostSession = error.kind === "session_lost";
  const recovery = lostSession ? connection.recover(error, call.connection) : undefined;
  if (!mayResend || !mayRepeat(connection, call, error)) return undefined;
  if (lostSession) return recovery ?? Promise.resolve();
  const wait = connection.ready();
  if (wait !== undefined) return wait;
  // A newer connection stands already, or there is none to wait for.
  return call.connection === connection.last ? spread(connection) : Promise.resolve();
}

function mayRepeat(connection: ClientConnection, call: PendingCall, error: McpError): boolean {
  const resend = call.options.resend ?? connection.options.resend ?? "idempotent";
  if (resend === "never") return false;
  const harmless = resend === "always" || call.row?.idempotent === true || call.extras.idempotent === true;
  switch (error.kind) {
    case "session_lost":
      // The server refused the request itself, unless only the rest of its stream was asked for.
      return harmless || !(isObject(error.data) && error.data["resumed"] === true);
    case "connect_failed":
      // Over HTTP this means that the request never left; a pipe cannot tell.
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
