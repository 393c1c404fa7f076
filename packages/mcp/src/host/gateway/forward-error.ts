import { taskDialect } from "../../era/select/task-dialect.js";
import { isObject } from "../../jsonrpc/message.js";
import { CALLER_KINDS, type ErrorKind, McpError, markForCallers } from "../../protocol/error.js";
import { TASKS } from "../../protocol/features/tasks.js";
import { type HttpFailure, httpFailureOf } from "../../protocol/http-failure.js";
import { masksErrors, neutralMessage, reportFailure } from "../../server/call/call-failure.js";
import type { ServerCall } from "../../server/call/server-call.js";
import type { OfferNames } from "../../server/sources/offer-names.js";
import { toErrorResult } from "../../server/tools/result.js";

/** The server that a call was forwarded to, with the names that the caller knows. */
export interface ForwardTarget {
  readonly server: string;
  readonly names: OfferNames | undefined;
  /**
   * False if the call had no connection to the server yet. In that case a server's error is not an answer to the
   * caller's request.
   */
  readonly connected: boolean;
}

/**
 * Turns an error of the server into an error for the caller: in the form of the caller's revision, and with the names
 * that the caller knows. Throws that error, or returns the result that represents it.
 */
export function forwardError(error: unknown, call: ServerCall, { server, names, connected }: ForwardTarget): object {
  if (!McpError.is(error)) throw error;
  if (!error.remote || !connected) throw CALLER_KINDS.has(error.kind) ? error : neutralError(error, call, server);
  const { method } = call.request;
  const { kind, message, code } = error;
  const data = withWait(error);
  if (isTaskRequired(error))
    throw taskDialect(call.request.revision).taskRequiredError(String(call.request.params["name"]));
  if (kind === "capability_missing") {
    // The gateway sent the capabilities of this caller to the server, so it is the caller that lacks the capability.
    const own = new McpError(kind, message, { data });
    if (method === "tools/call") return toErrorResult(own, call);
    throw own;
  }
  const reference = kind === "internal_error" ? hiddenReference(call, data) : undefined;
  if (reference !== undefined) throw new McpError(kind, neutralMessage(reference), { code, data: { reference } });
  const uri = isObject(data) && typeof data["uri"] === "string" ? data["uri"] : undefined;
  if (uri === undefined) throw data === error.data ? error : new McpError(kind, message, { code, data });
  const outer = { ...(data as object), uri: names?.uri(uri) ?? uri };
  // Newer revisions have no error code for a missing resource. There, the error is recognised by data that contains
  // nothing but the URI.
  const namesOnly = method === "resources/read" && Object.keys(outer).length === 1;
  if (kind === "resource_not_found" || (kind === "invalid_params" && namesOnly))
    throw new McpError("resource_not_found", message, { data: outer });
  throw new McpError(kind, message, { code, data: outer });
}

/**
 * The reference of an unexpected error whose text this caller must not see; undefined for other errors. Servers of this
 * library mark such errors with a `reference` and a `kind`.
 */
export function hiddenReference(call: ServerCall, mark: unknown): string | undefined {
  if (!isObject(mark) || typeof mark["reference"] !== "string" || typeof mark["kind"] !== "string") return undefined;
  return masksErrors(call) ? mark["reference"].slice(0, MAX_REFERENCE) : undefined;
}

const MAX_REFERENCE = 64;

/** The data of an error, with the waiting time from its HTTP response if there is one. */
function withWait(error: McpError): unknown {
  const { data } = error;
  const retryAfterMs = httpFailureOf(error)?.retryAfterMs;
  if (retryAfterMs === undefined || (data !== undefined && !isObject(data))) return data;
  return { retryAfterMs, ...data };
}

/** An error that reveals nothing about the host. The operator finds the cause by its reference. */
function neutralError(cause: McpError, call: ServerCall, server: string): McpError {
  const failure = httpFailureOf(cause);
  const { reference } = reportFailure(call, cause, () => `the server "${server}": ${cause.kind}: ${cause.message}`);
  const { what, fix } = callerText(cause.kind, failure);
  const wait = failure?.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs };
  const status = failure === undefined ? {} : { status: failure.status };
  const data = { server, reference, ...status, ...wait };
  return markForCallers(
    new McpError(cause.kind, `the server "${server}" behind this gateway ${what}`, { cause, data, fix }),
  );
}

interface CallerText {
  readonly what: string;
  readonly fix: string;
}

const UNKNOWN_OUTCOME = "The call may or may not have run, so repeat it only if that is safe.";
const OPERATOR = "Ask the operator of the gateway. Its log has the cause under `data.reference`.";

const BY_STATUS: Readonly<Record<number, CallerText>> = {
  401: { what: "does not accept the credentials of the gateway (HTTP 401); the call did not run", fix: OPERATOR },
  403: { what: "does not allow this request from the gateway (HTTP 403); the call did not run", fix: OPERATOR },
  404: { what: "was not found at the address that the gateway uses (HTTP 404); the call did not run", fix: OPERATOR },
  429: {
    what: "received too many requests (HTTP 429); the call did not run",
    fix: "Wait for `data.retryAfterMs`, then call again, and less often.",
  },
};

const BY_KIND: Partial<Record<ErrorKind, CallerText>> = {
  connection_closed: { what: "is not available, or ended before it answered", fix: UNKNOWN_OUTCOME },
  connect_failed: { what: "is not available; the call did not run", fix: "Try again later." },
  session_lost: { what: "no longer knows the session of the gateway", fix: UNKNOWN_OUTCOME },
  timeout: { what: "did not answer in time", fix: UNKNOWN_OUTCOME },
  auth_required: { what: "requires credentials that the gateway does not have; the call did not run", fix: OPERATOR },
  insufficient_scope: { what: "requires more permissions than the gateway has; the call did not run", fix: OPERATOR },
  authorization_failed: { what: "did not let the gateway log in; the call did not run", fix: OPERATOR },
  invalid_response: { what: "sent an invalid answer", fix: OPERATOR },
  decode_error: { what: "sent data that is not a message", fix: OPERATOR },
  oversized_frame: {
    what: "sent an answer that is too long for the gateway",
    fix: "Request less data at once.",
  },
};

function callerText(kind: ErrorKind, failure: HttpFailure | undefined): CallerText {
  const known = BY_KIND[kind];
  if (failure === undefined || kind === "session_lost") return known ?? { what: "cannot be used", fix: OPERATOR };
  const { status } = failure;
  const refused = { what: `refused the request of the gateway (HTTP ${status})`, fix: OPERATOR };
  const failed = { what: `failed, or could not be reached (HTTP ${status})`, fix: UNKNOWN_OUTCOME };
  return BY_STATUS[status] ?? (status < 500 ? refused : failed);
}

/** True if a server rejected a call because its tool only runs as a task. */
export function isTaskRequired(error: unknown): boolean {
  if (!McpError.is(error) || error.kind !== "capability_missing" || !isObject(error.data)) return false;
  const { requiredCapabilities: required } = error.data;
  return isObject(required) && isObject(required["extensions"]) && Object.hasOwn(required["extensions"], TASKS.id);
}
