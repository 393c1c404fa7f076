import { printable, printableLine } from "../encoding/printable.js";
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  RpcError,
} from "../jsonrpc/error.js";

// The error codes that MCP adds to those of JSON-RPC. Spec: schema reference of each revision, "Errors".

/** No resource exists at this URI. Used by 2024-11-05 to 2025-11-25; later revisions use `-32602`. */
export const RESOURCE_NOT_FOUND = -32002;
/** An HTTP header does not match the body of the request. From 2026-07-28 on. */
export const HEADER_MISMATCH = -32020;
/** The request needs a capability that the client did not declare. From 2026-07-28 on. */
export const MISSING_CAPABILITY = -32021;
/** The server does not support the protocol version of the request. From 2026-07-28 on. */
export const UNSUPPORTED_VERSION = -32022;
/** The user must first complete an interaction at one or more URLs. 2025-11-25 only. */
export const URL_ELICITATION_REQUIRED = -32042;
/**
 * The code with which a client reports that the user rejected a sampling request.
 *
 * Spec: Sampling, "Error Handling",
 * https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#error-handling
 */
export const USER_REJECTED = -1;

/**
 * The code and the default `fix` of each kind. Clients and servers raise the same kinds, so the texts suit both sides.
 * A code from a peer maps to the first kind that has it.
 */
const KINDS = {
  parse_error: [
    PARSE_ERROR,
    "Send one JSON text in UTF-8 per message; check whether something else prints to the same stream.",
  ],
  invalid_request: [
    INVALID_REQUEST,
    "Send JSON-RPC 2.0 in the order that the protocol requires: one handshake first, then requests with unused ids.",
  ],
  method_not_found: [
    METHOD_NOT_FOUND,
    "Call only methods that the server's capabilities include; see `client.serverCapabilities`.",
  ],
  invalid_params: [INVALID_PARAMS, "Compare the name and the arguments with the server's list."],
  internal_error: [
    INTERNAL_ERROR,
    "Look at `cause` and at the server's log; its handler failed or returned an invalid result.",
  ],
  resource_not_found: [RESOURCE_NOT_FOUND, "Read only URIs that the server lists or that match one of its templates."],
  header_mismatch: [HEADER_MISMATCH, "List the tools again, so that the mirrored headers match the current schema."],
  capability_missing: [
    MISSING_CAPABILITY,
    "Declare the capability in `data.requiredCapabilities` by passing its handler to `connect`.",
  ],
  unsupported_version: [
    UNSUPPORTED_VERSION,
    "Allow one of the revisions in `data.supported` with the `revisions` option.",
  ],
  url_elicitation_required: [
    URL_ELICITATION_REQUIRED,
    "Open the URLs in `data.elicitations` with the user's consent, then call again.",
  ],
  declined: [USER_REJECTED, "Respect the user's decision; ask again only if something has changed."],
  dismissed: [USER_REJECTED, "Continue without the answer, or ask again later."],
  question_changed: [
    INTERNAL_ERROR,
    "Move the time, randomness or I/O that the question depends on into `ctx.step`, or give the question a `key`.",
  ],
  too_many_questions: [
    INTERNAL_ERROR,
    "Ask fewer questions per call, or raise `limits.questions` or `limits.rounds` of the server.",
  ],
  limit_exceeded: [INTERNAL_ERROR, "Send or request less, or raise the limit that the message names."],
  timeout: [INTERNAL_ERROR, "Raise the deadline that `data.deadline` names, or let the server report progress."],
  cancelled: [INTERNAL_ERROR, "Nothing to fix if the cancellation was intended."],
  connection_closed: [
    INTERNAL_ERROR,
    "Connect again; a request in flight may or may not have run, so repeat it only if that is safe.",
  ],
  connect_failed: [INTERNAL_ERROR, "Check the address or the command, and that the server is running."],
  session_lost: [INTERNAL_ERROR, "Connect again; repeat the call only if it is safe to run twice."],
  transport_error: [INTERNAL_ERROR, "Check `data.status` and the proxies between client and server."],
  decode_error: [INTERNAL_ERROR, "Check that the other end is an MCP server and that no proxy changes its messages."],
  oversized_frame: [INTERNAL_ERROR, "Request less at once, or raise the limit that the message names."],
  invalid_response: [INTERNAL_ERROR, "Report this to the authors of the server: it violates the protocol."],
  invalid_schema: [INTERNAL_ERROR, "Correct the schema at the path that the message names."],
  invalid_definition: [INTERNAL_ERROR, "Correct the registration or the option that the message names."],
  /**
   * The program used this library incorrectly at run time, for example with a duplicate key or a result that JSON
   * cannot represent.
   */
  misuse: [INTERNAL_ERROR, "Correct the handler or the callback that the message names."],
  tool_error: [INTERNAL_ERROR, "Show the message to the model, or change the arguments."],
  authorization_failed: [INTERNAL_ERROR, "See `data.steps` for what was tried; correct the first step that failed."],
  auth_required: [INTERNAL_ERROR, "Pass credentials to `connect` in `headers`."],
  insufficient_scope: [INTERNAL_ERROR, "Authorize again with the scopes that `data` names."],
  unsupported: [INTERNAL_ERROR, "Use a runtime or a transport that supports this."],
  /** The peer sent an error code that the protocol does not define. */
  peer_error: [INTERNAL_ERROR, "See the documentation of the peer, which defines this code."],
} as const;

/** A stable identifier of the cause, to switch on. */
export type ErrorKind = keyof typeof KINDS;

/** Every kind, for documentation and tests. */
export const ERROR_KINDS = /* @__PURE__ */ Object.keys(KINDS) as readonly ErrorKind[];

/** The client call that failed with an error. */
export interface Operation {
  /** The JSON-RPC method of the call, for example `tools/call`. */
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly target?: string;
}

/** Optional properties of an error. */
export interface McpErrorOptions {
  /** Advice to the caller, in one sentence. Default: the usual advice for this kind. */
  fix?: string | undefined;
  /** Details for programs; a server sends them with the error. Default: none. */
  data?: unknown | undefined;
  /** The error that led to this one. Never sent to the peer. */
  cause?: unknown | undefined;
  /** The code on the wire, if it differs from the default of the kind. */
  code?: number | undefined;
  /** True if the peer sent this error, false if this process raised it. Default: false. */
  remote?: boolean | undefined;
  /** The call that failed. */
  operation?: Operation | undefined;
}

const BRAND: unique symbol = Symbol.for("@parley/mcp/error") as never;

/**
 * The error class of the library. `kind` identifies the cause, `fix` is advice, and `code` is the number on the wire.
 *
 * Use `McpError.is` rather than `instanceof`: it also recognises errors from another copy of the package.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/errors.md | Errors}
 */
export class McpError extends Error {
  /** Always `McpError`. */
  override readonly name = "McpError";
  /** The cause, as a stable identifier. */
  readonly kind: ErrorKind;
  /** The JSON-RPC error code. Several kinds share a code, so switch on `kind` instead. */
  readonly code: number;
  /** Details for programs, in a form that depends on the kind. Undefined if there are none. */
  readonly data: unknown;
  /** Advice on what to change, in one sentence. */
  readonly fix: string;
  /** True if the peer sent this error, false if this process raised it. */
  readonly remote: boolean;
  /** The call that failed. Set only on errors of a client's calls. */
  readonly operation: Operation | undefined;

  constructor(kind: ErrorKind, message: string, options: McpErrorOptions = {}) {
    // Most messages quote a peer, so control characters are escaped. The text of a tool error is for a model and stays
    // unchanged.
    super(
      kind === "tool_error" ? message : printable(message),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.kind = kind;
    this.code = options.code ?? KINDS[kind][0];
    this.data = options.data;
    this.fix = options.fix ?? KINDS[kind][1];
    this.remote = options.remote ?? false;
    this.operation = options.operation;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** True for an `McpError`, including one of another copy of the package. */
  static is(value: unknown): value is McpError {
    return typeof value === "object" && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;
  }

  /** Converts any thrown value to an `McpError`. Returns an `McpError` unchanged. */
  static from(value: unknown): McpError {
    if (McpError.is(value)) return value;
    if (value instanceof RpcError) return fromWire(value);
    const message = value instanceof Error ? value.message : String(value);
    return new McpError("internal_error", message, { cause: value });
  }
}

/** Converts the error response of a peer to an `McpError`. */
export function fromWire(error: RpcError): McpError {
  return new McpError(kindOfCode(error.code), printableLine(error.message), {
    code: error.code,
    data: error.data,
    remote: true,
    // The HTTP response that carried the error, if it had an error status.
    cause: error.cause,
  });
}

function kindOfCode(code: number): ErrorKind {
  // Safe: the keys of the table are the kinds.
  const kinds = Object.keys(KINDS) as ErrorKind[];
  return kinds.find((kind) => KINDS[kind][0] === code) ?? "peer_error";
}

/**
 * Kinds whose errors a server sends to its callers unchanged, even if a connection to another server raised them.
 * Messages of other kinds may contain commands, output, addresses and credentials of this process.
 */
export const CALLER_KINDS: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "cancelled",
  "capability_missing",
  "declined",
  "dismissed",
  "invalid_params",
  "limit_exceeded",
  "method_not_found",
  "question_changed",
  "resource_not_found",
  "too_many_questions",
  "tool_error",
  "url_elicitation_required",
]);

/** Kinds that only connections to other servers raise. */
const CONNECTION_KINDS: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "authorization_failed",
  "connect_failed",
  "connection_closed",
  "decode_error",
  "invalid_response",
  "oversized_frame",
  "session_lost",
  "transport_error",
]);

/** A registered symbol, so that other copies of the package recognise the mark. */
const CALLER_MARK: unique symbol = Symbol.for("@parley/mcp/error-for-callers") as never;

/**
 * Marks an error as written for callers, although errors of its kind normally come from connections to other servers.
 */
export function markForCallers(error: McpError): McpError {
  return marked(error, true);
}

/** The error for a request to a closed server. */
export function serverClosed(): McpError {
  return markForCallers(new McpError("connection_closed", "the server is closed"));
}

/** Marks an error as raised by a connection to another server, whatever its kind. Returns other values unchanged. */
export function markConnectionError(error: unknown): unknown {
  return McpError.is(error) && Object.isExtensible(error) ? marked(error, false) : error;
}

/** True if a server sends the text of this error to any caller. Other errors count as unexpected. */
export function isForCallers(error: McpError): boolean {
  const { kind, remote, operation } = error;
  if (remote || CALLER_KINDS.has(kind)) return true;
  const { [CALLER_MARK]: meant } = error as { [CALLER_MARK]?: boolean };
  return meant ?? (operation === undefined && !CONNECTION_KINDS.has(kind));
}

function marked(error: McpError, meant: boolean): McpError {
  return Object.defineProperty(error, CALLER_MARK, { value: meant, configurable: true });
}

/** The error for a resource that does not exist or that this caller may not see. */
export function resourceNotFound(uri: string): McpError {
  return new McpError("resource_not_found", `resource not found: ${uri}`, { data: { uri } });
}
