import { INTERNAL_ERROR } from "../../jsonrpc/error.js";
import { errorText, type Id } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import type { Answer } from "../../transport/transport.js";
import type { ServerCall } from "../call/server-call.js";
import { FAILURE } from "../tools/result.js";

/** The reason why a call, a stream or a session is refused. */
export interface QuotaRefusal {
  /** The option that sets the limit. */
  readonly limit: string;
  readonly retryAfterMs: number;
  /**
   * True if the cause is not this caller: the limit counts all callers together, or the server cannot count calls now.
   * The HTTP status is then 503 instead of 429.
   */
  readonly server: boolean;
  /** The limit as a sentence for the model. */
  readonly text: string;
}

/**
 * Refuses a tool call with a result for the model. With `"protocol"`, and for all other methods, throws an error and
 * sets the HTTP status.
 */
export function refuse(call: ServerCall, refused: QuotaRefusal, as: "result" | "protocol"): CallToolResult {
  const { limit, retryAfterMs, server, text } = refused;
  const message = `${text} Wait ${secondsOf(retryAfterMs)} s, then call again.`;
  const error = new McpError("limit_exceeded", message, {
    data: { limit, retryAfterMs },
    fix: `Call again after \`data.retryAfterMs\`, or raise \`${limit}\` of the server.`,
  });
  if (as === "protocol" || call.request.method !== "tools/call") {
    call.reply = { status: server ? 503 : 429, retryAfterMs };
    throw error;
  }
  call.failure = error;
  return {
    content: [{ type: "text", text: message }],
    isError: true,
    _meta: { [FAILURE]: { kind: error.kind, limit, retryAfterMs } },
  };
}

/** Refuses a session or a stream. `request` is the id of the handshake request that would open the session. */
export function refusedOpening({ limit, retryAfterMs, server, text }: QuotaRefusal, request?: Id): Answer {
  const message = `${text} Wait ${secondsOf(retryAfterMs)} s, then try again.`;
  const fix = `Close one that is no longer needed, or raise \`${limit}\` of the server.`;
  const data = { limit, retryAfterMs, fix };
  return { text: errorText(request, INTERNAL_ERROR, message, data), status: server ? 503 : 429, retryAfterMs };
}

/** Rounded up, because a call that comes too soon is refused again. */
function secondsOf(ms: number): number {
  return Math.ceil(ms / 1000);
}
