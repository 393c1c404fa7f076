import type { ErrorObject } from "../jsonrpc/message.js";
import { McpError } from "./error.js";

/**
 * What an `McpError` that came from an HTTP status carries in `data`. An `RpcError` that came in the body of such an answer
 * has an `McpError` with this data as its `cause`.
 */
export interface HttpFailure {
  status: number;
  /** The beginning of the body. */
  body?: string;
  /** The JSON-RPC error in the body, where there was a well-formed one. */
  rpc?: ErrorObject;
  /** `WWW-Authenticate` as sent. */
  challenge?: string;
  /** How long the server asked to wait; never more than a minute. */
  retryAfterMs?: number;
  /** Where a refused redirect pointed. */
  location?: string;
  /** With `session_lost`: true when the client had already left that session. */
  stale?: boolean;
  /** With `session_lost`: true when the request had been taken, and only its broken stream was asked for again. */
  resumed?: boolean;
}

/** The HTTP status behind an error of a transport or of a call, or undefined when no answer with an error status came. */
export function httpStatusOf(error: unknown): number | undefined {
  return httpFailureOf(error)?.status;
}

/** The HTTP answer behind an error, looked for along its causes. */
export function httpFailureOf(error: unknown): HttpFailure | undefined {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if (McpError.is(current) && isHttpFailure(current.data)) return current.data;
    current = current.cause;
  }
  return undefined;
}

function isHttpFailure(data: unknown): data is HttpFailure {
  return typeof data === "object" && data !== null && typeof (data as { status?: unknown }).status === "number";
}
