import type { ErrorObject } from "../jsonrpc/message.js";
import { McpError } from "./error.js";

/**
 * The `data` of an `McpError` for an HTTP error status. If the body of the response contains a JSON-RPC error, the
 * request fails with an `RpcError` that has that `McpError` as its `cause`.
 */
export interface HttpFailure {
  status: number;
  /** The beginning of the body. */
  body?: string;
  /** The JSON-RPC error in the body, if it is well-formed. */
  rpc?: ErrorObject;
  /** `WWW-Authenticate` as sent. */
  challenge?: string;
  /** `Retry-After` in milliseconds, capped at one minute. */
  retryAfterMs?: number;
  /** The target of a redirect that was not followed. */
  location?: string;
  /** With `session_lost`: true if the client had already replaced the lost session. */
  stale?: boolean;
  /**
   * With `session_lost`: true if the server had accepted the request and only the attempt to resume its stream failed.
   */
  resumed?: boolean;
}

/**
 * The HTTP status that caused an error of a transport or a call. Undefined if no response with an error status caused
 * it.
 */
export function httpStatusOf(error: unknown): number | undefined {
  return httpFailureOf(error)?.status;
}

/** The HTTP response that caused an error, found by following `cause` for at most five errors. */
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
