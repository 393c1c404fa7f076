import type { ClientObserver, ConnectionChange, RequestEnded, RequestFollower } from "../client/contract/observer.js";
import { printableLine } from "../encoding/printable.js";
import { checkOptions } from "../protocol/check-options.js";
import { McpError } from "../protocol/error.js";
import type { CallEnded, CallRefused, Observer } from "../server/contract/observer.js";
import { failedKind } from "./attributes.js";

/** The part of a logger that `logCalls` uses. pino, winston and `console` have these methods. */
export interface CallLogger {
  /** Logs a success, or a change of a connection without an error. */
  info(fields: CallLine, message: string): void;
  /** Logs a failure caused by a caller, a tool or a peer. */
  warn(fields: CallLine, message: string): void;
  /** Logs a failure caused by this side. */
  error(fields: CallLine, message: string): void;
}

/** The fields of a log line. They never include arguments or results. Fields that do not apply are absent. */
export interface CallLine {
  /**
   * `call`: a call to a server ended. `refused`: a server refused a request before it became a call. `request`: a
   * request of a client ended. `connection`: the state of a client's connection changed.
   */
  readonly event: "call" | "refused" | "request" | "connection";
  /** The method of the request. */
  readonly method?: string | undefined;
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name?: string | undefined;
  /** The JSON-RPC id of the request. */
  readonly requestId?: string | number | undefined;
  /** The outcome of the call or request. Absent for a connection. */
  readonly outcome?: "ok" | "tool_error" | "input_required" | "error" | undefined;
  /** Duration of the call or request, in milliseconds. */
  readonly durationMs?: number | undefined;
  /** The kind of the error. `handler_error`, `handler_throw`, `timeout` or `aborted` if a handler failed. */
  readonly kind?: string | undefined;
  /** The message of the error, on one line and at most 1000 characters long. */
  readonly error?: string | undefined;
  /** The protocol revision of the session or request. */
  readonly protocolVersion?: string | undefined;
  /** The transport: `http`, `websocket`, `tcp`, `unix` or `pipe`. */
  readonly transport?: string | undefined;
  /** The trace id that the caller sent. */
  readonly traceId?: string | undefined;
  /** The authenticated subject of the caller. */
  readonly subject?: string | undefined;
  /** The OAuth client id of the caller. */
  readonly clientId?: string | undefined;
  /** The address or command of the server. Only for `request` and `connection`. */
  readonly target?: string | undefined;
  /** The number of the attempt, from 2 on. Only for a `request` that was sent again. */
  readonly attempt?: number | undefined;
  /** The new state of the connection. Only for `connection`. */
  readonly state?: string | undefined;
}

/** Options of `logCalls`. */
export interface LogCallsOptions {
  /**
   * Duration in milliseconds from which successful calls and requests are logged. Failures and changes of connections
   * are always logged. Default: 0, which logs everything.
   */
  slowMs?: number | undefined;
}

/** Maximum length of a peer's text in a line, in characters. Longer texts are truncated. */
const MAX_TEXT_LENGTH = 1000;

/**
 * Writes one log line per call to a server, per request of a client, and per change of a connection. The level is
 * `info` for success, `warn` for a fault of a caller, a tool or a peer, and `error` for a fault of this side. Pass the
 * return value to `server.observe`, or to `connect` or `Host` as `observe`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/observing.md | Observing}
 */
export function logCalls(logger: CallLogger, options: LogCallsOptions = {}): Observer & ClientObserver {
  checkOptions("logCalls", options, "slowMs");
  if (typeof logger?.info !== "function" || typeof logger.warn !== "function" || typeof logger.error !== "function") {
    throw new McpError("invalid_definition", "the first argument of `logCalls` is not a logger", {
      fix: "Pass an object with `info`, `warn` and `error`, such as `console`.",
    });
  }
  const { slowMs = 0 } = options;
  const isQuiet = ({ outcome, durationMs }: CallEnded | RequestEnded) =>
    durationMs < slowMs && (outcome === "ok" || outcome === "input_required");
  // All functions return the logger's result. It may be a promise, and the code that calls the observer handles
  // rejections.
  const follower: RequestFollower = {
    ended: (request) => (isQuiet(request) ? undefined : write(logger, requestLine(request))),
  };
  return {
    ended: (call: CallEnded) => (isQuiet(call) ? undefined : write(logger, callLine(call))),
    refused({ method, requestId, error }: CallRefused) {
      const about = { method: short(method), requestId };
      return write(logger, { event: "refused", ...about, outcome: "error", ...failure(McpError.from(error)) });
    },
    request: () => follower,
    state({ state, reason, target, protocolVersion }: ConnectionChange) {
      const failed = reason === undefined ? {} : failure(McpError.from(reason));
      return write(logger, defined({ event: "connection", state, target, protocolVersion, ...failed }));
    },
  };
}

/** Kinds of failures of this side. A caller, a tool or a peer causes all other kinds. */
const LOCAL_FAILURES: ReadonlySet<string> = new Set([
  "handler_error",
  "handler_throw",
  "internal_error",
  "misuse",
  "invalid_response",
]);

function write(logger: CallLogger, fields: CallLine): void {
  const level = fields.kind === undefined ? "info" : LOCAL_FAILURES.has(fields.kind) ? "error" : "warn";
  const { event, method = "", name = "", state = "", outcome = "", durationMs } = fields;
  const took = durationMs === undefined ? "" : `${durationMs} ms`;
  const words = [event, method, name, state, outcome, took].filter((word) => word !== "");
  return logger[level](fields, printableLine(words.join(" ")));
}

function callLine(call: CallEnded): CallLine {
  const { outcome, trace, auth } = call;
  const failed = outcome === "tool_error" || outcome === "error";
  return lineOf("call", call, {
    ...(failed ? { kind: failedKind(call) } : {}),
    traceId: trace?.traceId,
    subject: auth?.subject,
    clientId: auth?.clientId,
  });
}

function requestLine(request: RequestEnded): CallLine {
  const { target, attempt } = request;
  return lineOf("request", request, { target, attempt: attempt === 1 ? undefined : attempt });
}

function lineOf(event: CallLine["event"], ended: CallEnded | RequestEnded, own: Partial<CallLine>): CallLine {
  const { method, name, requestId, outcome, durationMs, protocolVersion, network, error } = ended;
  return defined({
    event,
    method,
    name: name === undefined ? undefined : short(name),
    requestId,
    outcome,
    durationMs: Math.round(durationMs * 1000) / 1000,
    ...(outcome === "tool_error" || outcome === "error" ? failure(error) : {}),
    protocolVersion,
    transport: network?.protocol ?? network?.transport,
    ...own,
  });
}

function failure(error: unknown): Pick<CallLine, "kind" | "error"> {
  if (error === undefined) return { kind: "tool_error" };
  const { message } = error instanceof Error ? error : McpError.from(error);
  return { kind: McpError.from(error).kind, error: short(message) };
}

function short(text: string): string {
  return printableLine(text.slice(0, MAX_TEXT_LENGTH)).slice(0, MAX_TEXT_LENGTH);
}

/** Removes undefined members, which some loggers print. */
function defined(line: CallLine): CallLine {
  // Safe: only optional members can be undefined.
  return Object.fromEntries(Object.entries(line).filter(([, value]) => value !== undefined)) as unknown as CallLine;
}
