import { readable, thrownMessage, traceOf } from "../../encoding/thrown-message.js";
import { callHook } from "../../platform/call-hook.js";
import { isForCallers, McpError } from "../../protocol/error.js";
import type { Exchange } from "../../transport/transport.js";
import type { CallEnd, CallFailure, FailureKind } from "../contract/observer.js";
import { ToolError } from "../contract/tool.js";
import { isInputRequired } from "./input-required.js";
import type { ServerCall } from "./server-call.js";

/** The part of an unexpected error that the client receives. */
export interface PublicFailure {
  readonly message: string;
  /**
   * Marks a message that a gateway in front of this server must not pass on to strangers. Absent if `maskErrors: false`
   * sends all messages to all callers.
   */
  readonly data?: Pick<CallFailure, "kind" | "reference">;
}

/**
 * Returns the name in the params of a call, such as that of a tool or prompt; undefined if the method has no name
 * parameter.
 */
export function nameOf({ row, request }: ServerCall): string | undefined {
  const named = row.nameField === undefined ? undefined : request.params[row.nameField];
  return typeof named === "string" ? named : undefined;
}

/** Classifies the failure of a handler. Returns undefined for errors that are meant for the caller. */
function failureKind(call: ServerCall, thrown: unknown): FailureKind | undefined {
  const error = readable(thrown);
  const { signal } = call.exchange;
  // A question interrupted the handler, which runs again with the answer. An error caused by the interruption is
  // therefore not a failure.
  if (isInputRequired(error) || isInputRequired(call.signal.reason)) return "aborted";
  const name = error instanceof Error ? error.name : undefined;
  const kind = McpError.is(error) ? error.kind : undefined;
  if (signal.aborted && (error === signal.reason || name === "AbortError" || kind === "cancelled")) return "aborted";
  if (kind === "timeout" || name === "TimeoutError") return "timeout";
  if (isPublicError(error)) return undefined;
  return error instanceof Error ? "handler_error" : "handler_throw";
}

/**
 * True if the error's message is meant for the caller. Errors from a client connection that the handler uses are not
 * meant for the caller.
 */
function isPublicError(error: unknown): error is McpError | ToolError {
  return McpError.is(error) ? isForCallers(error) : ToolError.is(error);
}

/** Describes for observers how a call ended: with a result, which may contain a failure, or with an error. */
export function endOf(call: ServerCall, ended: { readonly result: object } | { readonly error: unknown }): CallEnd {
  const error = "error" in ended ? ended.error : call.failure;
  if (call.questions?.interruption?.interim !== undefined || isInputRequired(error)) {
    return { outcome: "input_required", error, failure: undefined };
  }
  if ("error" in ended) return { outcome: "error", error, failure: failureKind(call, error) };
  const failed = (ended.result as { isError?: unknown }).isError === true;
  if (!failed) return { outcome: "ok", error, failure: undefined };
  // Without an error, the result itself states the problem, such as invalid arguments.
  return { outcome: "tool_error", error, failure: error === undefined ? undefined : failureKind(call, error) };
}

/**
 * Reports an error that was not meant for the caller, and returns the message for the caller. By default,
 * unauthenticated callers on this machine receive the original message, and all others a neutral one with the reference
 * of the report. `maskErrors` overrides this.
 */
export function publicFailure(call: ServerCall, error: unknown): PublicFailure {
  const { kind, reference } = reportFailure(call, error, () => traceOf(error));
  const message = masksErrors(call) ? neutralMessage(reference) : thrownMessage(error);
  return maskOption(call) === false ? { message } : { message, data: { kind, reference } };
}

/**
 * Reports an unexpected error to `onError`, or, without `onError`, as a warning with the text of `shown`. Does not
 * report aborted calls. Returns the kind of the failure and the new reference of the report.
 */
export function reportFailure(
  call: ServerCall,
  error: unknown,
  shown: () => string,
): Pick<CallFailure, "kind" | "reference"> {
  const { config, root } = call;
  const { onError = root.config.options.onError } = config.options;
  const kind = failureKind(call, error) ?? "handler_error";
  const reference = config.randomId();
  if (kind === "aborted") return { kind, reference };
  const { method, id: requestId } = root.request;
  const name = nameOf(root);
  const { warn } = config.platform;
  if (onError !== undefined) {
    callHook(warn, "onError", () => onError(error, { reference, kind, method, name, requestId }));
  } else warn(`error ${reference} in ${method}${name === undefined ? "" : ` "${name}"`}: ${shown()}`);
  return { kind, reference };
}

/** True if the caller receives a neutral message instead of the message of an unexpected error. */
export function masksErrors(call: ServerCall): boolean {
  return maskOption(call) ?? mayBeStranger(call.exchange);
}

function maskOption({ config, root }: ServerCall): boolean | undefined {
  return config.options.maskErrors ?? root.config.options.maskErrors;
}

/** The message that replaces the message of an unexpected error for strangers. */
export function neutralMessage(reference: string): string {
  return `internal error (id ${reference})`;
}

/**
 * True if the peer may be a stranger: an authenticated caller, a peer of a remote connection, or an HTTP client that
 * did not connect directly from this machine. A proxy on this machine is recognised by the headers that it adds.
 */
export function mayBeStranger({ http, principal, peer, remote }: Exchange): boolean {
  if ((principal ?? peer?.principal) !== undefined || (remote ?? peer?.remote) === true) return true;
  if (http === undefined) return false;
  const local =
    /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(http.header("host") ?? "") &&
    /^$|^::1$|^(::ffff:)?127\./.test(http.remoteAddress ?? "");
  return !local || http.header("x-forwarded-for") !== undefined || http.header("forwarded") !== undefined;
}
