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

/** There is no resource at this URI; the code of revisions with sessions. */
export const RESOURCE_NOT_FOUND = -32002;
/** A header says something else than the body. */
export const HEADER_MISMATCH = -32020;
/** The request needs a capability that the client did not declare. */
export const MISSING_CAPABILITY = -32021;
/** The server does not speak the revision of the request. */
export const UNSUPPORTED_VERSION = -32022;
/** The user must open a page first. */
export const URL_ELICITATION_REQUIRED = -32042;
/**
 * The code of a client's answer when the user rejected a sampling request.
 *
 * Spec: Sampling, "Error Handling",
 * https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#error-handling
 */
export const USER_REJECTED = -1;

/**
 * The code of each kind and its default `fix`, which is worded for both sides, because clients and servers raise the same
 * kinds. The first kind with a code is what the code means when a peer sends it.
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
    "Compute what the question depends on (time, randomness, I/O) in `ctx.step`, or give the question a `key`.",
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
  session_lost: [INTERNAL_ERROR, "Connect again; repeat the call only if it may run twice."],
  transport_error: [INTERNAL_ERROR, "Check `data.status` and the proxies between client and server."],
  decode_error: [INTERNAL_ERROR, "Check that the other end is an MCP server and that no proxy changes its messages."],
  oversized_frame: [INTERNAL_ERROR, "Request less at once, or raise the limit that the message names."],
  invalid_response: [INTERNAL_ERROR, "The server violates the protocol; report it to its authors."],
  invalid_schema: [INTERNAL_ERROR, "Correct the schema at the path that the message names."],
  invalid_definition: [INTERNAL_ERROR, "Correct the registration or the option that the message names."],
  /** The program that uses this library broke a rule of it while it ran: a key twice, a result that JSON cannot hold. */
  misuse: [INTERNAL_ERROR, "Correct the handler or the callback that the message names."],
  tool_error: [INTERNAL_ERROR, "Show the message to the model, or change the arguments."],
  authorization_failed: [INTERNAL_ERROR, "See `data.steps` for what was tried; correct the first step that failed."],
  auth_required: [INTERNAL_ERROR, "Pass credentials to `connect` in `headers`."],
  insufficient_scope: [INTERNAL_ERROR, "Authorize again with the scopes that `data` names."],
  unsupported: [INTERNAL_ERROR, "Use a runtime or a transport that supports this."],
  /** The peer answered with a code that the protocol does not define. */
  peer_error: [INTERNAL_ERROR, "The peer defined this code; see its documentation."],
} as const;

/** What went wrong: a stable identifier to switch on. */
export type ErrorKind = keyof typeof KINDS;

/** Every kind, for documentation and tests. */
export const ERROR_KINDS = /* @__PURE__ */ Object.keys(KINDS) as readonly ErrorKind[];

/** The call of a client that an error ended. */
export interface Operation {
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly target?: string;
}

/** Optional properties of an error. */
export interface McpErrorOptions {
  /** What the caller should change, in one sentence. Default: the usual advice for this kind. */
  fix?: string | undefined;
  /** Details for programs; a server sends them with the error. Default: none. */
  data?: unknown | undefined;
  /** The error that led to this one. Never sent to the peer. */
  cause?: unknown | undefined;
  /** The code on the wire, if it differs from the default of the kind. */
  code?: number | undefined;
  /** True if the peer sent this error; false if it was raised here. */
  remote?: boolean | undefined;
  /** The call that failed. */
  operation?: Operation | undefined;
}

const BRAND: unique symbol = Symbol.for("@parley/mcp/error") as never;

/**
 * The error class of the library: `kind` is what happened, `fix` what to change, `code` the number on the wire.
 *
 * Use `McpError.is` rather than `instanceof`; it also recognises errors from another copy of the package.
 */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly kind: ErrorKind;
  readonly code: number;
  readonly data: unknown;
  /** What to change, in one sentence. */
  readonly fix: string;
  readonly remote: boolean;
  /** The call that failed, on errors of a client's calls. */
  readonly operation: Operation | undefined;

  constructor(kind: ErrorKind, message: string, options: McpErrorOptions = {}) {
    // Most quote a peer somewhere. What a tool says is for a model, and is kept as it is.
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

  /** Whether a value is an `McpError`, of this or another copy of the package. */
  static is(value: unknown): value is McpError {
    return typeof value === "object" && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;
  }

  /** Converts any thrown value to an `McpError`; an `McpError` is returned unchanged. */
  static from(value: unknown): McpError {
    if (McpError.is(value)) return value;
    if (value instanceof RpcError) return fromWire(value);
    const message = value instanceof Error ? value.message : String(value);
    return new McpError("internal_error", message, { cause: value });
  }
}

/** Converts an error response of the peer. */
export function fromWire(error: RpcError): McpError {
  return new McpError(kindOfCode(error.code), printableLine(error.message), {
    code: error.code,
    data: error.data,
    remote: true,
    // The HTTP response that it came with, if that had a status of its own.
    cause: error.cause,
  });
}

function kindOfCode(code: number): ErrorKind {
  // Safe: the keys of the table are the kinds.
  const kinds = Object.keys(KINDS) as ErrorKind[];
  return kinds.find((kind) => KINDS[kind][0] === code) ?? "peer_error";
}

/**
 * The kinds of errors that callers of a server get as they are, also where a connection to another server raised them. Texts of
 * other kinds may hold commands, output, addresses and credentials of this side.
 */
export const FOR_CALLERS: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
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

/** The kinds that only connections to other servers raise. */
const OF_CONNECTIONS: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "authorization_failed",
  "connect_failed",
  "connection_closed",
  "decode_error",
  "invalid_response",
  "oversized_frame",
  "session_lost",
  "transport_error",
]);

/** Known to other copies of the package too, as errors themselves are. */
const MEANT: unique symbol = Symbol.for("@parley/mcp/error-for-callers") as never;

/** Marks an error whose text is written for callers, although its kind is one of connections. */
export function forCallers(error: McpError): McpError {
  return marked(error, true);
}

/** The error of a request to a server that is closed. */
export function serverClosed(): McpError {
  return forCallers(new McpError("connection_closed", "the server is closed"));
}

/** Marks an error of a connection to another server, of whatever kind. Other values are returned as they are. */
export function ofConnection(error: unknown): unknown {
  return McpError.is(error) && Object.isExtensible(error) ? marked(error, false) : error;
}

/** Whether a server sends the text of an error to any caller. All others are unexpected. */
export function isForCallers(error: McpError): boolean {
  const { kind, remote, operation } = error;
  if (remote || FOR_CALLERS.has(kind)) return true;
  const { [MEANT]: meant } = error as { [MEANT]?: boolean };
  return meant ?? (operation === undefined && !OF_CONNECTIONS.has(kind));
}

function marked(error: McpError, meant: boolean): McpError {
  return Object.defineProperty(error, MEANT, { value: meant, configurable: true });
}

/** The error for a resource that does not exist or that this caller may not see. */
export function resourceNotFound(uri: string): McpError {
  return new McpError("resource_not_found", `resource not found: ${uri}`, { data: { uri } });
}
