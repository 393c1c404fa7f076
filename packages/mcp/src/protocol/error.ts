import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  RpcError,
} from "../jsonrpc/error.js";

/** The codes that MCP adds to JSON-RPC's. */
export const RESOURCE_NOT_FOUND = -32002;
export const HEADER_MISMATCH = -32020;
export const MISSING_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;
export const URL_ELICITATION_REQUIRED = -32042;
/** What a client answers when its user refused to sample. */
export const USER_REJECTED = -1;

const KINDS = {
  parse_error: PARSE_ERROR,
  invalid_request: INVALID_REQUEST,
  method_not_found: METHOD_NOT_FOUND,
  invalid_params: INVALID_PARAMS,
  internal_error: INTERNAL_ERROR,
  resource_not_found: RESOURCE_NOT_FOUND,
  header_mismatch: HEADER_MISMATCH,
  capability_missing: MISSING_CAPABILITY,
  unsupported_version: UNSUPPORTED_VERSION,
  url_elicitation_required: URL_ELICITATION_REQUIRED,
  declined: USER_REJECTED,
  dismissed: USER_REJECTED,
  question_changed: INTERNAL_ERROR,
  too_many_questions: INTERNAL_ERROR,
  limit_exceeded: INTERNAL_ERROR,
  timeout: INTERNAL_ERROR,
  cancelled: INTERNAL_ERROR,
  connection_closed: INTERNAL_ERROR,
  connect_failed: INTERNAL_ERROR,
  session_lost: INTERNAL_ERROR,
  transport_error: INTERNAL_ERROR,
  decode_error: INTERNAL_ERROR,
  oversized_frame: INTERNAL_ERROR,
  invalid_response: INTERNAL_ERROR,
  invalid_schema: INTERNAL_ERROR,
  invalid_definition: INTERNAL_ERROR,
  tool_error: INTERNAL_ERROR,
  auth_required: INTERNAL_ERROR,
  insufficient_scope: INTERNAL_ERROR,
  unsupported: INTERNAL_ERROR,
  /** The peer answered with a code that has no meaning in the protocol. */
  peer_error: INTERNAL_ERROR,
} as const;

/** What went wrong, as a stable word to switch on. */
export type ErrorKind = keyof typeof KINDS;

/** Every kind, for documentation and tests. */
export const ERROR_KINDS = Object.keys(KINDS) as readonly ErrorKind[];

/** What an error may carry beside its kind and message. */
export interface McpErrorOptions {
  /** What the caller should change, in one sentence. Default: what usually helps for this kind. */
  fix?: string;
  data?: unknown;
  cause?: unknown;
  /** The wire's code where it differs from the kind's own. */
  code?: number;
  /** True when the peer sent this error; false when it arose here. */
  remote?: boolean;
}

/** What to change where whoever made the error did not say it better. Read on either side of the wire. */
const FIXES: Readonly<Record<ErrorKind, string>> = {
  parse_error: "Send one JSON text in UTF-8 per message; look for a program that prints between messages.",
  invalid_request:
    "Send JSON-RPC 2.0 in the order of the protocol: the handshake first and once, an id that is not in use.",
  method_not_found: "Call only what the server's capabilities announce; see `client.serverCapabilities`.",
  invalid_params: "Check the name and the arguments against what the server lists.",
  internal_error: "Look at `cause` and at what the server prints; the failure is in its handler, or in its result.",
  resource_not_found: "Read only URIs that the server lists or that one of its templates makes.",
  header_mismatch: "List the tools again, so that the mirrored headers fit the newest schema.",
  capability_missing:
    "Declare the capability that `data.requiredCapabilities` names, by giving its handler to `connect`.",
  unsupported_version: "Allow one of the revisions in `data.supported` by the `revisions` option.",
  url_elicitation_required: "Open the URLs in `data.elicitations` with the user's consent, then call again.",
  declined: "Respect the refusal; ask again only when something has changed.",
  dismissed: "Go on without the answer, or ask again later.",
  question_changed:
    "Put what shapes the question (time, randomness, I/O) into `ctx.step`, or give the question a `key`.",
  too_many_questions: "Ask less in one call, or raise `limits.questions` or `limits.rounds` of the server.",
  limit_exceeded: "Send or ask for less, or raise the limit that the message names.",
  timeout: "Raise the deadline that `data.deadline` names, or let the server report progress.",
  cancelled: "Nothing is to be changed when the cancellation was meant.",
  connection_closed: "Connect again; a request in flight may or may not have run, so repeat it only if that is safe.",
  connect_failed: "Check the address or the command, and that the server there is running.",
  session_lost: "Connect again; repeat the call only if it may run twice.",
  transport_error: "Look at `data.status` and at what stands between client and server.",
  decode_error: "Check that the other end is an MCP server and that nothing changes its messages on the way.",
  oversized_frame: "Ask for less at once, or raise the limit that the message names.",
  invalid_response: "The server breaks the protocol here; report it to its authors.",
  invalid_schema: "Correct the schema at the path that the message names.",
  invalid_definition: "Correct the registration or the option that the message names.",
  tool_error: "Show the message to the model, or change the arguments.",
  auth_required: "Give `connect` credentials by `headers`.",
  insufficient_scope: "Authorize again with the scopes that `data` names.",
  unsupported: "Use a runtime or a transport that can do this.",
  peer_error: "The peer chose this code itself; its documentation says what it means.",
};

const BRAND: unique symbol = Symbol.for("@parley/mcp/error") as never;

/**
 * The one error class of the library. `kind` says what happened, `fix` what to change, `code` what the wire carries.
 * Recognised by a brand, so that two copies of the package know each other's errors: use `McpError.is`.
 */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly kind: ErrorKind;
  readonly code: number;
  readonly data: unknown;
  /** What to change, in one sentence. */
  readonly fix: string;
  readonly remote: boolean;

  constructor(kind: ErrorKind, message: string, options: McpErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = options.code ?? KINDS[kind];
    this.data = options.data;
    this.fix = options.fix ?? FIXES[kind];
    this.remote = options.remote ?? false;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** True for an `McpError` of any copy of this package. */
  static is(value: unknown): value is McpError {
    return typeof value === "object" && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;
  }

  /** Turns whatever was thrown into an `McpError`; an `McpError` is returned as it is. */
  static from(value: unknown): McpError {
    if (McpError.is(value)) return value;
    if (value instanceof RpcError) return fromWire(value);
    const message = value instanceof Error ? value.message : String(value);
    return new McpError("internal_error", message, { cause: value });
  }
}

/** The error that a peer sent, as the caller sees it. */
export function fromWire(error: RpcError): McpError {
  return new McpError(kindOfCode(error.code), error.message, { code: error.code, data: error.data, remote: true });
}

function kindOfCode(code: number): ErrorKind {
  for (const kind of WIRE_KINDS) if (KINDS[kind] === code) return kind;
  return code === INTERNAL_ERROR ? "internal_error" : "peer_error";
}

const WIRE_KINDS = [
  "parse_error",
  "invalid_request",
  "method_not_found",
  "invalid_params",
  "resource_not_found",
  "header_mismatch",
  "capability_missing",
  "unsupported_version",
  "url_elicitation_required",
  "declined",
] as const satisfies readonly ErrorKind[];
