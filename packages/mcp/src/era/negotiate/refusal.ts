import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError } from "../../jsonrpc/error.js";
import { isObject } from "../../jsonrpc/message.js";
import {
  fromWire,
  HEADER_MISMATCH,
  McpError,
  MISSING_CAPABILITY,
  RESOURCE_NOT_FOUND,
  UNSUPPORTED_VERSION,
} from "../../protocol/error.js";
import { httpStatusOf } from "../../protocol/http-failure.js";
import { featuresOf, type Revision, revisionsOf } from "../../protocol/revisions.js";

/** Thrown if the connection closes during the probe. The server may have failed because of the probe. */
export class ProbeLost extends Error {
  override readonly name = "ProbeLost";

  constructor(cause: unknown) {
    super("the connection ended during the probe `server/discover`", { cause });
  }
}

/**
 * True for an error that only servers of the stateless era send.
 *
 * Spec: Streamable HTTP, "Earlier Streamable HTTP Revisions",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#earlier-streamable-http-revisions
 */
export function isModernError(error: unknown): boolean {
  const cause = error instanceof RpcError ? error : error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof RpcError)) return false;
  return cause.code === HEADER_MISMATCH || cause.code === MISSING_CAPABILITY || cause.code === UNSUPPORTED_VERSION;
}

/**
 * True if an error shows which era the server supports. Errors that concern authorization, overload or the network, and
 * internal errors of the server, do not.
 */
export function revealsEra(error: unknown): boolean {
  if (error instanceof RpcError) return true;
  if (McpError.is(error)) {
    if (error.kind === "invalid_response" || error.kind === "unsupported_version") return true;
    if (error.cause instanceof RpcError && NO_HANDSHAKE.includes(error.cause.code)) return true;
  }
  const status = httpStatusOf(error);
  return status !== undefined && status < 500 && status !== 401 && status !== 403 && status !== 429;
}

/**
 * The HTTP failure of an overloaded or failing server. The JSON-RPC error in such a response does not show which
 * revisions the server supports. Undefined for other errors.
 */
export function failedServer(error: RpcError): McpError | undefined {
  const status = httpStatusOf(error) ?? 0;
  return (status >= 500 || status === 429) && !isModernError(error) && McpError.is(error.cause)
    ? error.cause
    : undefined;
}

/**
 * True if a server that rejected the handshake may still support HTTP+SSE, the transport of the first revision. This is
 * so if the server answered 400, 404 or 405, without an error that only the stateless era has. HTTP+SSE begins with a
 * handshake, so the result is false if no revision in `allowed` has a handshake.
 *
 * Spec: Streamable HTTP, "Earlier Streamable HTTP Revisions",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#earlier-streamable-http-revisions
 */
export function mayBeLegacySse(error: unknown, allowed: readonly Revision[] | undefined): boolean {
  if (revisionsOf("stateful", allowed).length === 0) return false;
  const status = httpStatusOf(error);
  return (status === 400 || status === 404 || status === 405) && !isModernError(error);
}

/** Reasons for a failed start that the stdio transport reports, and for which another start would fail too. */
const PERMANENT_START_FAILURES = [
  "missing_binary",
  "not_executable",
  "bad_cwd",
  "missing_env",
  "missing_module",
  "syntax_error",
];

/** True if another start of the server may succeed. */
export function mayRestart(error: unknown): boolean {
  if (!McpError.is(error) || (error.kind !== "connection_closed" && error.kind !== "connect_failed")) return false;
  const reason = isObject(error.data) ? error.data["reason"] : undefined;
  return typeof reason !== "string" || !PERMANENT_START_FAILURES.includes(reason);
}

/** The revisions that the sender of an error supports, according to the error's `data`. */
export function supportedBy(error: RpcError): readonly unknown[] {
  return isObject(error.data) && Array.isArray(error.data["supported"]) ? error.data["supported"] : [];
}

/**
 * Codes with which a server may reject a handshake because it does not support handshakes or the requested revision.
 */
const NO_HANDSHAKE = [METHOD_NOT_FOUND, INVALID_PARAMS, INVALID_REQUEST];
/** Words in the messages of servers that reject a revision with a code in `NO_HANDSHAKE`. */
const REVISION_WORDS = /version|revision|_meta/i;

/** True if the error suggests that the server rejected a handshake or a probe because of its revision. */
function refusesRevision(error: RpcError): boolean {
  if (supportedBy(error).length > 0 || error.code === METHOD_NOT_FOUND || isModernError(error)) return true;
  return NO_HANDSHAKE.includes(error.code) && REVISION_WORDS.test(error.message);
}

/** The error for a handshake that the server answered with an error. */
export function refusedHandshake(error: RpcError, target: string): McpError {
  const supported = supportedBy(error);
  const failed = failedServer(error);
  if (failed !== undefined) return failed;
  if (!refusesRevision(error)) {
    if (NO_HANDSHAKE.includes(error.code)) return refusedClient(error, `${target} refused the handshake`);
    const { kind, code, message, data } = fromWire(error);
    const fix = "Look at the server's log: it failed during the handshake.";
    return new McpError(kind, message, { code, data, fix, cause: error, remote: true });
  }
  return new McpError("unsupported_version", `${target} refused the handshake (${error.code}): ${error.message}`, {
    cause: error,
    code: error.code,
    data: { supported },
    remote: true,
    fix: "Add a revision that the server supports to the `revisions` option, or leave the option out.",
  });
}

/** Words in the messages of servers with sessions that reject a request before the handshake. */
const SESSION_WORDS = /initiali[sz]|session|method/i;

/**
 * The error for a probe that was rejected for a reason other than the revision. Undefined if the revision may be the
 * reason.
 */
export function refusedProbe(error: RpcError, target: string): McpError | undefined {
  if (error.code !== INVALID_REQUEST && error.code !== INVALID_PARAMS) return undefined;
  if (refusesRevision(error) || SESSION_WORDS.test(error.message)) return undefined;
  return refusedClient(error, `${target} refused \`server/discover\``);
}

function refusedClient(error: RpcError, what: string): McpError {
  const { kind, code, message, data } = fromWire(error);
  return new McpError(kind, `${what} (${code}): ${message}`, {
    ...{ code, data, cause: error, remote: true },
    fix: "Ask the operator of the server which clients it accepts; the message contains the server's reason.",
  });
}

/**
 * Kinds of errors after which a later attempt may succeed. Includes `session_lost`, because a new handshake opens a new
 * session.
 */
const TRANSIENT_KINDS: ReadonlySet<string> = new Set([
  "connection_closed",
  "connect_failed",
  "timeout",
  "session_lost",
]);

/** True for a failure after which a later attempt may succeed. */
export function isTransient(error: unknown): boolean {
  if (!McpError.is(error)) return false;
  if (error.kind === "transport_error") {
    const status = httpStatusOf(error) ?? 500;
    return status >= 500 || status === 429;
  }
  return TRANSIENT_KINDS.has(error.kind);
}

/** Codes with which servers with sessions reject a request that has no session. */
const NO_SESSION = [INVALID_REQUEST, -32000, -32001];
/**
 * Codes that also have other meanings. Before the server's first answer in this revision, these codes count as a
 * missing session, later not.
 */
const PERHAPS_NO_SESSION = [METHOD_NOT_FOUND, INVALID_PARAMS, RESOURCE_NOT_FOUND];

/**
 * The revisions to negotiate among if an error shows that the server does not support `spoken`: the server has changed,
 * or cached knowledge about it is wrong. Undefined if the error does not show that, or if the server names no other
 * allowed revision. `proved` is true if the server has already answered in `spoken`.
 *
 * Spec: Versioning, "Protocol Version Negotiation",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#protocol-version-negotiation
 */
export function revisionsInstead(
  error: unknown,
  spoken: Revision,
  allowed: readonly Revision[],
  proved: boolean,
): readonly Revision[] | undefined {
  const code = error instanceof RpcError ? error.code : undefined;
  if (error instanceof RpcError && code === UNSUPPORTED_VERSION) {
    const supported = supportedBy(error);
    const shared = allowed.filter((revision) => revision !== spoken && supported.includes(revision));
    return shared.length === 0 ? undefined : shared;
  }
  if (featuresOf(spoken).era === "stateful") return isModernError(error) ? allowed : undefined;
  const status = httpStatusOf(error);
  const refused =
    code === undefined
      ? status === 400 || status === 404 || status === 405
      : NO_SESSION.includes(code) || (!proved && PERHAPS_NO_SESSION.includes(code));
  return refused ? allowed : undefined;
}
