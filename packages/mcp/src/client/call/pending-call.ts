import type { OutgoingCall } from "../../era/era.js";
import type { Id } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import { McpError } from "../../protocol/error.js";
import type { MethodRow } from "../../protocol/methods.js";
import { readTrace, traceMeta } from "../../protocol/trace-context.js";
import type { CurrentConnection } from "../connection/current-connection.js";
import type { CallOptions, ClientOptions } from "../contract/options.js";
import type { Deadline } from "./call-deadlines.js";
import type { CallExtras } from "./requester.js";

/** One call of the application. It may send several requests and ends once. Only `Caller` creates it. */
export interface PendingCall extends Deadline {
  readonly out: OutgoingCall;
  readonly row: MethodRow | undefined;
  readonly options: CallOptions;
  readonly extras: CallExtras;
  total: number;
  /** The id of the request in flight. Undefined while the call waits for something else. */
  id: Id | undefined;
  /** The id of the first request of the call. Set only if the client has observers. */
  firstId: Id | undefined;
  /** The connection over which the call was last sent. */
  connection: CurrentConnection | undefined;
  /** The generation of the cache when the call was last sent. */
  generation: number;
  /** True once the call was sent again after a failure. */
  resent: boolean;
  /** Rounds of questions so far. */
  rounds: number;
  /** Consecutive rounds without a question. */
  emptyRounds: number;
  /** Questions of all rounds. */
  questions: number;
  /** The highest progress of the request in flight. */
  lastProgress: number;
  /** The time of the last message about the call, apart from results. */
  lastSign: number | undefined;
  /** The reason why the call was stopped, if it was. */
  stopped: McpError | undefined;
  /** Rejects the current wait of the call. Undefined while a request is in flight. */
  interrupt: ((reason: McpError) => void) | undefined;
  /** Stops watching the caller's signal. */
  unwatch: (() => void) | undefined;
}

/** The error for a method that the server does not offer. */
export function notOffered(method: string, capability: string): McpError {
  return new McpError("capability_missing", `the server does not offer ${method}: it declares no "${capability}"`, {
    data: { capability },
    fix: "Look at `client.serverCapabilities` before calling.",
  });
}

/** The error for a call on a client that is being closed. */
export function closing(method: string): McpError {
  return new McpError("connection_closed", `${method} was not sent: the client is being closed`, {
    fix: "Close the client after its calls have ended.",
  });
}

/**
 * The error for a call with answered questions after the revision changed. The old revision carried the answers in the
 * request; in the new one the call would start over and run twice.
 */
export function cannotContinue(method: string): McpError {
  return new McpError(
    "connection_closed",
    `after the reconnection the server uses a revision that cannot continue ${method}`,
    {
      fix: "Repeat the call if it is safe to run it twice.",
    },
  );
}

/** The error for parameters that cannot be written as JSON. */
export function unsendable(method: string, cause: TypeError): McpError {
  return new McpError("invalid_params", `the parameters of ${method} cannot be written as JSON: ${cause.message}`, {
    cause,
    fix: "Pass plain data: no cycles, no BigInt.",
  });
}

/** True if the caller or a deadline ended a wait. */
export function isTimeoutOrCancel(error: unknown): boolean {
  return McpError.is(error) && (error.kind === "timeout" || error.kind === "cancelled");
}

/** The error for a call that passed one of its deadlines. */
export function expired(call: PendingCall, which: "idle" | "total"): McpError {
  const { out, lastSign, started, [which]: ms } = call;
  const heardAfter = lastSign === undefined ? undefined : Math.round(lastSign - started);
  const silent =
    heardAfter === undefined ? "no message arrived" : `the last message arrived ${heardAfter} ms after the start`;
  return new McpError("timeout", `${out.method} passed its ${which} deadline of ${ms} ms; ${silent}`, {
    data: { deadline: which, ms, heardAfter },
    fix: `Raise \`timeouts.${which}Ms\`, for this call or in \`connect\`, or let the server report progress.`,
  });
}

/** The error for a call that was in flight when the client was closed. */
export function abandoned({ out }: PendingCall): McpError {
  return new McpError("connection_closed", `the client was closed while ${out.method} was in flight`, {
    fix: "Close the client after its calls have ended.",
  });
}

/** The application's members of `_meta`: the trace context, and the `meta` of this call. */
export function metaOf(
  { trace, meta }: CallOptions,
  options: ClientOptions,
  warn: (message: string) => void,
): Record<string, unknown> | undefined {
  let wanted = trace;
  if (wanted === undefined && options.trace !== undefined) {
    callHook(warn, "trace", () => {
      wanted = options.trace?.();
      return wanted;
    });
  }
  // Omits malformed members, because tracing must not break a call.
  const read = wanted === undefined ? undefined : readTrace(wanted);
  return read === undefined ? meta : { ...traceMeta(read), ...meta };
}
