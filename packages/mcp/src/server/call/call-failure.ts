import { readable, thrownMessage, traceOf } from "../../encoding/thrown-message.js";
import { callHook } from "../../platform/call-hook.js";
import { isForCallers, McpError } from "../../protocol/error.js";
import type { Exchange } from "../../transport/transport.js";
import type { CallEnd, CallFailure, FailureKind } from "../contract/observer.js";
import { ToolError } from "../contract/tool.js";
import { isInputRequired } from "./input-required.js";
import type { ServerCall } from "./server-call.js";

/** What the client gets of an unexpected error. */
export interface PublicFailure {
  readonly message: string;
  /** Marks the message as one that strangers must not get; absent where `maskErrors: false` lets everybody have it. */
  readonly data?: Pick<CallFailure, "kind" | "reference">;
}

/** The name that the parameters of a call have, where its method names something. */
export function nameOf({ row, request }: ServerCall): string | undefined {
  const named = row.nameField === undefined ? undefined : request.params[row.nameField];
  return typeof named === "string" ? named : undefined;
}

/** How a handler failed; undefined for errors that are meant for the caller. */
function failureKind(call: ServerCall, thrown: unknown): FailureKind | undefined {
  const error = readable(thrown);
  const { signal } = call.exchange;
  // The handler runs again with the answer; what an interruption makes it throw is no failure.
  if (isInputRequired(error) || isInputRequired(call.signal.reason)) return "aborted";
  const name = error instanceof Error ? error.name : undefined;
  const kind = McpError.is(error) ? error.kind : undefined;
  if (signal.aborted && (error === signal.reason || name === "AbortError" || kind === "cancelled")) return "aborted";
  if (kind === "timeout" || name === "TimeoutError") return "timeout";
  if (isPublicError(error)) return undefined;
  return error instanceof Error ? "handler_error" : "handler_throw";
}

/** Whether the text of an error is meant for the caller; that of a handler's own connection to another server is not. */
function isPublicError(error: unknown): error is McpError | ToolError {
  return McpError.is(error) ? isForCallers(error) : ToolError.is(error);
}

/** How a call ended, for observers: with a result, which may hold a failure, or with an error. */
export function endOf(call: ServerCall, ended: { readonly result: object } | { readonly error: unknown }): CallEnd {
  const error = "error" in ended ? ended.error : call.failure;
  if (call.questions?.interruption?.interim !== undefined || isInputRequired(error)) {
    return { outcome: "input_required", error, failure: undefined };
  }
  if ("error" in ended) return { outcome: "error", error, failure: failureKind(call, error) };
  const failed = (ended.result as { isError?: unknown }).isError === true;
  if (!failed) return { outcome: "ok", error, failure: undefined };
  // Without an error the result itself says what was wrong, such as arguments that do not fit.
  return { outcome: "tool_error", error, failure: error === undefined ? undefined : failureKind(call, error) };
}

/**
 * Reports an error that a handler did not throw for its caller, and returns what the caller gets of it: the text if the
 * caller is on this machine, otherwise a neutral text with the reference of the report.
 */
export function publicFailure(call: ServerCall, error: unknown): PublicFailure {
  const { kind, reference } = reportFailure(call, error, () => traceOf(error));
  const message = masksErrors(call) ? neutralMessage(reference) : thrownMessage(error);
  return maskOption(call) === false ? { message } : { message, data: { kind, reference } };
}

/** Gives an error that the caller must not see to `onError`, or prints it as `shown`, under a new reference. */
export function reportFailure(
  call: ServerCall,
  error: unknown,
  shown: () => string,
): Pick<CallFailure, "kind" | "reference"> {
  const { config, root } = call;
  const { onError = root.config.options.onError } = config.options;
  const kind = failureKind(call, error) ?? "handler_error";
  const reference = config.randomId();
  // A call that its caller gave up ends as it should.
  if (kind === "aborted") return { kind, reference };
  const { method, id: requestId } = root.request;
  const name = nameOf(root);
  const { warn } = config.platform;
  if (onError !== undefined) {
    callHook(warn, "onError", () => onError(error, { reference, kind, method, name, requestId }));
  } else warn(`error ${reference} in ${method}${name === undefined ? "" : ` "${name}"`}: ${shown()}`);
  return { kind, reference };
}

/** Whether the caller gets neutral texts in place of those of unexpected errors. */
export function masksErrors(call: ServerCall): boolean {
  return maskOption(call) ?? mayBeStranger(call.exchange);
}

function maskOption({ config, root }: ServerCall): boolean | undefined {
  return config.options.maskErrors ?? root.config.options.maskErrors;
}

/** The text that strangers get in place of that of an unexpected error. */
export function neutralMessage(reference: string): string {
  return `internal error (id ${reference})`;
}

/**
 * Whether a peer may be a stranger. Servers on addresses beyond this machine must be told to accept everybody, or who is
 * who; a proxy on this machine is recognised by what it adds.
 */
export function mayBeStranger({ http, principal, peer, remote }: Exchange): boolean {
  if ((principal ?? peer?.principal) !== undefined || (remote ?? peer?.remote) === true) return true;
  if (http === undefined) return false;
  const local =
    /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(http.header("host") ?? "") &&
    /^$|^::1$|^(::ffff:)?127\./.test(http.remoteAddress ?? "");
  return !local || http.header("x-forwarded-for") !== undefined || http.header("forwarded") !== undefined;
}
