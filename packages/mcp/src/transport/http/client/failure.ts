import { isBodyTooLarge } from "../../../http/body-limit.js";
import type { SendResponse } from "../../../http/http.js";
import { RpcError } from "../../../jsonrpc/error.js";
import { type ClassifiedMessage, type Id, parseMessage } from "../../../jsonrpc/message.js";
import { McpError } from "../../../protocol/error.js";
import { type HttpFailure, httpFailureOf } from "../../../protocol/http-failure.js";
import type { Receiver } from "../../transport.js";

/**
 * Maximum number of bytes of an error body that are read. Error bodies are for people to read; longer ones do not
 * explain more.
 */
const MAX_ERROR_BODY = 256 * 1024;
const MAX_SHOWN_LENGTH = 2_000;
const MAX_RETRY_AFTER_MS = 60_000;

/** The request that an error response answers. The meaning of the response depends on the request. */
export interface SentRequest {
  url: string;
  method: string;
  /** Absent for messages that expect no answer. */
  id?: Id | undefined;
  /** True if the request carried a session id. */
  inSession: boolean;
  now: number;
}

/**
 * Reads the body of a response with an error status, and returns the error. The first match wins: 401 is
 * `auth_required`; 403 with an `insufficient_scope` challenge is `insufficient_scope`; 404 in a session (or a 400 whose
 * text means the same) is `session_lost`; a JSON-RPC error for this request is an `RpcError` with its code; anything
 * else is `transport_error`.
 *
 * Spec: Transports, "Session Management",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export async function failureOf(response: SendResponse, sent: SentRequest): Promise<RpcError | McpError> {
  const failure = await describe(response, sent);
  const reason = failure.rpc?.message ?? (failure.body !== undefined && isPlain(response) ? failure.body : undefined);
  const { status } = failure;
  const summary = `${sent.method} to ${sent.url} was answered with HTTP ${status}${reason === undefined ? "" : `: ${reason.slice(0, 300)}`}`;
  if (status === 401) {
    return new McpError("auth_required", summary, {
      data: failure,
      fix: "Pass credentials to `connect` in `headers`.",
    });
  }
  if (status === 403 && failure.challenge?.includes("insufficient_scope")) {
    return new McpError("insufficient_scope", summary, {
      data: failure,
      fix: "Request the scopes that the challenge lists.",
    });
  }
  if (sent.inSession && isSessionLoss(failure)) {
    return new McpError("session_lost", `the server no longer knows this session (${summary})`, {
      data: failure,
      fix: "Initialize again; set `resend` for calls that are safe to repeat.",
    });
  }
  const fix = FIXES[status] ?? (status >= 500 ? SERVER_FIX : "Look up this status in the documentation of the server.");
  const plain = new McpError("transport_error", summary, { data: failure, fix });
  if (failure.rpc === undefined) return plain;
  const error = new RpcError(failure.rpc.code, failure.rpc.message, failure.rpc.data);
  error.cause = plain;
  return error;
}

async function describe(response: SendResponse, sent: SentRequest): Promise<HttpFailure> {
  const failure: HttpFailure = { status: response.status };
  const challenge = response.header("www-authenticate");
  if (challenge !== undefined) failure.challenge = challenge;
  const retryAfter = response.header("retry-after");
  const wait = retryAfter === undefined ? undefined : retryAfterMs(retryAfter, sent.now);
  if (wait !== undefined) failure.retryAfterMs = wait;
  // If the body cannot be read, the status is enough.
  const text = await response.text(MAX_ERROR_BODY).catch(() => "");
  if (text === "") return failure;
  failure.body = text.slice(0, MAX_SHOWN_LENGTH);
  const parsed = parseMessage(text);
  if (parsed.kind !== "error") return failure;
  const { id, error } = parsed.message;
  if (id === undefined || id === null || sent.id === undefined || id === sent.id) failure.rpc = error;
  return failure;
}

/** True if the body is readable in an error message, unlike HTML. */
function isPlain(response: SendResponse): boolean {
  const type = response.header("content-type") ?? "text/plain";
  return /^(text\/plain|application\/(problem\+)?json)\b/i.test(type);
}

/**
 * True if the response means that the session is lost. After a restart, many servers send 400 with an explanation
 * instead of the 404 that the specification requires.
 */
function isSessionLoss(failure: HttpFailure): boolean {
  if (failure.status === 404) return true;
  if (failure.status !== 400) return false;
  const reason = failure.rpc?.message ?? failure.body ?? "";
  return /\b(no valid|unknown|invalid|expired|missing) session\b|\bsession (id )?(was )?(not found|expired|unknown|invalid)\b|\bnot initialized\b/i.test(
    reason,
  );
}

function retryAfterMs(value: string, now: number): number | undefined {
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

const SERVER_FIX = "Look at the server's log: the server itself failed.";

const FIXES: Record<number, string> = {
  400: "Look at the body: the server could not read the request, or requires another revision or header.",
  403: "Check the server's allowed Host and Origin values, and the permissions of the credentials.",
  404: "Check the path of the address; MCP servers often listen at `/mcp`.",
  405: "Check the path of the address: it does not accept POST.",
  406: "Check for a proxy that changes `Accept`; the client offers JSON and SSE.",
  410: "Check the path of the address: the server reports this one as gone.",
  413: "Send less in one call, or raise the body limit of the server.",
  415: "Check for a proxy that changes `Content-Type`; the client sends `application/json`.",
  429: "Wait for `data.retryAfterMs` and call less often.",
  431: "Send shorter headers: fewer mirrored arguments or a shorter token.",
  503: "Wait for `data.retryAfterMs`, then try again.",
};

const FIRST_ANSWER_WAIT_MS = 250;

/** Returns the milliseconds to wait before posting an answer again, or undefined if a retry would not help. */
export function waitBeforeAnswer(error: unknown, attempt: number): number | undefined {
  const isAway = McpError.is(error) && (error.kind === "connect_failed" || error.kind === "connection_closed");
  const failure = httpFailureOf(error);
  if (!isAway && !(failure !== undefined && RETRYABLE_STATUSES.has(failure.status))) return undefined;
  return Math.max(failure?.retryAfterMs ?? 0, FIRST_ANSWER_WAIT_MS * 2 ** (attempt - 1));
}

/** Statuses of balancers and servers that cannot accept a request at the moment. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Builds the error for a request without a complete answer. Returns an `McpError` or `RpcError` unchanged. */
export function networkError(error: unknown, what: string, url: string): McpError | RpcError {
  if (McpError.is(error) || error instanceof RpcError) return error;
  if (isBodyTooLarge(error)) {
    return new McpError("oversized_frame", `the answer to ${what} is too long: ${(error as Error).message}`, {
      cause: error,
      fix: "Ask for less at once, or raise `maxMessageBytes` of `connect`.",
    });
  }
  const code = networkCode(error);
  const message = `${(error as Error)?.message ?? error}`;
  const reason = code === undefined || message.includes(code) ? message : `${message} (${code})`;
  const data = code === undefined ? undefined : { code };
  if (code !== undefined && NEVER_SENT.test(code)) {
    // If a server answers in plain HTTP, the message of the TLS library contains these words, among internal numbers.
    const plain = /wrong.version.number/i.test(reason);
    const why = `${what} could not reach ${url}: ${plain ? "the server does not use TLS on this port" : reason}`;
    return new McpError("connect_failed", REFUSED.test(code) ? `nothing is listening at ${url} (${code})` : why, {
      cause: error,
      data,
      fix: plain ? "Write `http://` in place of `https://`, or pass the port that has TLS." : unsentFix(code),
    });
  }
  if (code !== undefined && UNREADABLE.test(code)) {
    return new McpError("decode_error", `the answer to ${what} from ${url} cannot be decompressed: ${reason}`, {
      cause: error,
      data,
      fix: "Check the server and any proxy: the body does not have the encoding in its Content-Encoding header.",
    });
  }
  return new McpError("connection_closed", `the connection to ${url} broke before ${what} was answered: ${reason}`, {
    cause: error,
    data,
    fix: "Connect again; the request may or may not have run, so repeat it only if that is safe.",
  });
}

/** Codes of failures that occur before the connection is open, so that the request was not sent. */
const NEVER_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|EPROTO|ERR_SSL_\w+|ERR_TLS_\w+|CERT_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+|ERR_INVALID_\w+|ConnectionRefused)$/;

const REFUSED = /^(ECONNREFUSED|ConnectionRefused)$/;

/** Codes of rejected certificates. */
const CERTIFICATE = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/;

function unsentFix(code: string): string {
  if (/^(ENOTFOUND|EAI_)/.test(code)) {
    return "Check the name of the host and the network of this machine; nothing was sent.";
  }
  return CERTIFICATE.test(code)
    ? "Correct the certificate of the server, or trust its issuer (Node: `NODE_EXTRA_CA_CERTS`); nothing was sent."
    : "Check that the server runs and that host, port and certificate are right; nothing was sent.";
}

/** Codes of decompressors. */
const UNREADABLE = /^(Z_\w+|ERR_BROTLI\w*|ERR__ERROR\w*|ERR_CONTENT_ENCODING)$/;

/** Finds the runtime's code for a network failure. `fetch` hides the code in the cause. */
function networkCode(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < 4 && current instanceof Error; depth++) {
    const { code, errors } = current as { code?: unknown; errors?: unknown };
    if (typeof code === "string") return code;
    current = Array.isArray(errors) ? errors[0] : current.cause;
  }
  return undefined;
}

/** Describes a response that contains no answer, as the end of a sentence. */
export function describeBody(response: SendResponse, text: string, message: ClassifiedMessage): string {
  if (text === "") return `with HTTP ${response.status} and an empty body`;
  if (message.kind !== "invalid") return `with a ${message.kind} instead of an answer`;
  const type = response.header("content-type");
  const json = type === undefined || /^application\/json\b/i.test(type);
  return json
    ? `with an invalid message: ${message.reason}`
    : `with ${type}, which is neither JSON nor an event stream`;
}

/** The error for a server that does not accept a message in time. */
export function tooSlow(url: string, ms: number): McpError {
  return new McpError("timeout", `${url} did not answer within ${ms} ms`, {
    fix: "Check that the server is alive, or raise `timeouts.sendMs` of `httpTransport`.",
  });
}

/** The error for a message that the protocol does not allow the server to send. */
export function protocolFault(message: string): McpError {
  return new McpError("invalid_response", message, { fix: "Report it to the author of the server." });
}

/** Maximum number of consecutive invalid events. After that, the client closes the stream. */
const MAX_IN_A_ROW = 100;

/** Reports invalid events of a stream, and decides when there are too many. */
export class StreamFaults {
  readonly #receiver: Receiver;
  /** One error per cause, so that a flood of invalid events does not create a stack trace for each. */
  readonly #known = new Map<string, McpError>();
  #inARow = 0;

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  /** Resets the count after a valid message. */
  reset(): void {
    this.#inARow = 0;
  }

  /**
   * Reports the fault that `make` describes. After too many faults in a row, returns the error with which to end the
   * stream instead.
   */
  report(cause: string, make: () => McpError): McpError | undefined {
    this.#inARow++;
    if (this.#inARow > MAX_IN_A_ROW) return this.#error("too many", tooMany);
    this.#receiver.fault(this.#error(cause, make));
    return undefined;
  }

  #error(cause: string, make: () => McpError): McpError {
    const error = this.#known.get(cause) ?? make();
    this.#known.set(cause, error);
    return error;
  }
}

function tooMany(): McpError {
  return new McpError(
    "limit_exceeded",
    `the server sent more than ${MAX_IN_A_ROW} events in a row that are not messages`,
    {
      fix: "Check that the address is that of an MCP server; if it is, report this to its author.",
    },
  );
}
