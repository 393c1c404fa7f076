import type { ClientObserver, ConnectionChange, RequestEnded, RequestFollower } from "../client/contract/observer.js";
import { printableLine } from "../encoding/printable.js";
import { checkOptions } from "../protocol/check-options.js";
import { McpError } from "../protocol/error.js";
import type { CallEnded, CallRefused, Observer } from "../server/contract/observer.js";
import { failedKind } from "./attributes.js";

/** The part of a logger that `logCalls` uses: pino, winston and the console have it. */
export interface CallLogger {
  info(fields: CallLine, message: string): void;
  warn(fields: CallLine, message: string): void;
  error(fields: CallLine, message: string): void;
}

/** The fields of a line. None is an argument or a result; what a call does not have is absent. */
export interface CallLine {
  readonly event: "call" | "refused" | "request" | "connection";
  readonly method?: string | undefined;
  /** The tool, prompt or URI that it is about. */
  readonly name?: string | undefined;
  readonly requestId?: string | number | undefined;
  readonly outcome?: "ok" | "tool_error" | "input_required" | "error" | undefined;
  readonly durationMs?: number | undefined;
  /** The kind of an error; `handler_error`, `handler_throw`, `timeout` or `aborted` if a handler failed. */
  readonly kind?: string | undefined;
  /** The text of an error, on one line. */
  readonly error?: string | undefined;
  readonly protocolVersion?: string | undefined;
  /** How it travels: `http`, `websocket`, `tcp`, `unix` or `pipe`. */
  readonly transport?: string | undefined;
  readonly traceId?: string | undefined;
  /** The caller, by the authorization. */
  readonly subject?: string | undefined;
  readonly clientId?: string | undefined;
  /** Of a request: where to, and which attempt it was if not the first. */
  readonly target?: string | undefined;
  readonly attempt?: number | undefined;
  /** Of a connection. */
  readonly state?: string | undefined;
}

/** Options of `logCalls`. */
export interface LogCallsOptions {
  /** Only calls that failed or took at least so many milliseconds are logged. Default: all. */
  slowMs?: number | undefined;
}

/** Longest text that a peer can put into a line, in characters. */
const MAX_TEXT_LENGTH = 1000;

/**
 * Writes one line per call of a server and per request of a client, by any logger: `info` for what went well, `warn` for what a
 * caller or a tool got wrong, `error` for what failed here. Pass it to `server.observe`, or to `connect` or `Host` as `observe`.
 */
export function logCalls(logger: CallLogger, options: LogCallsOptions = {}): Observer & ClientObserver {
  checkOptions("logCalls", options, "slowMs");
  if (typeof logger?.info !== "function" || typeof logger.warn !== "function" || typeof logger.error !== "function") {
    throw new McpError("invalid_definition", "`logCalls` was not given a logger", {
      fix: "Pass an object with `info`, `warn` and `error`, such as `console`.",
    });
  }
  const { slowMs = 0 } = options;
  const isQuiet = ({ outcome, durationMs }: CallEnded | RequestEnded) =>
    durationMs < slowMs && (outcome === "ok" || outcome === "input_required");
  // The logger's result is passed on, because it may be a promise that rejects.
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

/** Failures of this side; everything else that failed is the doing of a caller, a tool or a peer. */
const OWN: ReadonlySet<string> = new Set([
  "handler_error",
  "handler_throw",
  "internal_error",
  "misuse",
  "invalid_response",
]);

function write(logger: CallLogger, fields: CallLine): void {
  const level = fields.kind === undefined ? "info" : OWN.has(fields.kind) ? "error" : "warn";
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

/** Without members that are undefined, which some loggers print. */
function defined(line: CallLine): CallLine {
  // Only members that are optional can be left out.
  return Object.fromEntries(Object.entries(line).filter(([, value]) => value !== undefined)) as unknown as CallLine;
}
