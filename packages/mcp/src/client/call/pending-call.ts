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

/** One call of the application: it may be sent several times, and it ends once. Only the caller makes it. */
export interface PendingCall extends Deadline {
  readonly out: OutgoingCall;
  readonly row: MethodRow | undefined;
  readonly options: CallOptions;
  readonly extras: CallExtras;
  total: number;
  /** The id of the request in flight; undefined while the call waits for something else. */
  id: Id | undefined;
  /** The id of its first request; known only if the client is observed. */
  firstId: Id | undefined;
  /** The connection over which it was sent last. */
  connection: CurrentConnection | undefined;
  /** The generation of the cache when it was sent. */
  generation: number;
  /** True once it was sent a second time after a loss. */
  resent: boolean;
  /** Rounds of questions so far. */
  rounds: number;
  /** Rounds without a question since the last one with any. */
  emptyRounds: number;
  /** Questions of all rounds. */
  questions: number;
  /** The greatest progress that the request in flight reported. */
  lastProgress: number;
  /** When the server last gave a sign of life, apart from answers. */
  lastSign: number | undefined;
  /** Why it ended while no request was in flight. */
  stopped: McpError | undefined;
  /** Rejects the wait of a call without a request in flight. */
  interrupt: ((reason: McpError) => void) | undefined;
  /** Ends the watching of the caller's signal. */
  unwatch: (() => void) | undefined;
}

/** A call of something that the server does not offer. */
export function notOffered(method: string, capability: string): McpError {
  return new McpError("capability_missing", `the server does not offer ${method}: it declares no "${capability}"`, {
    data: { capability },
    fix: "Look at `client.serverCapabilities` before calling.",
  });
}

/** A call that came too late. */
export function closing(method: string): McpError {
  return new McpError("connection_closed", `${method} was not sent: the client is being closed`, {
    fix: "Close the client when its calls have ended.",
  });
}

/** The former revision carried the answers in the call; in this one the call would begin anew, and run twice. */
export function answeredInVain(method: string): McpError {
  return new McpError("connection_closed", `the server came back in a revision that cannot continue ${method}`, {
    fix: "Repeat the call if it is safe to run it twice.",
  });
}

/** A call whose parameters are no JSON. */
export function unsendable(method: string, cause: TypeError): McpError {
  return new McpError("invalid_params", `the parameters of ${method} cannot be written as JSON: ${cause.message}`, {
    cause,
    fix: "Pass plain data: no cycles, no BigInt.",
  });
}

/** Whether a wait was ended by the caller or a deadline. */
export function isOwnEnd(error: unknown): boolean {
  return McpError.is(error) && (error.kind === "timeout" || error.kind === "cancelled");
}

/** A call that passed one of its deadlines. */
export function expired(call: PendingCall, which: "idle" | "total"): McpError {
  const { out, lastSign, started, [which]: ms } = call;
  const heardAfter = lastSign === undefined ? undefined : Math.round(lastSign - started);
  const silent = heardAfter === undefined ? "nothing was heard" : `last heard ${heardAfter} ms after the start`;
  return new McpError("timeout", `${out.method} passed its ${which} deadline of ${ms} ms; ${silent}`, {
    data: { deadline: which, ms, heardAfter },
    fix: `Raise \`timeouts.${which}Ms\`, for this call or in \`connect\`, or let the server report progress.`,
  });
}

/** A call that was in flight when the client was closed. */
export function abandoned({ out }: PendingCall): McpError {
  return new McpError("connection_closed", `the client was closed while ${out.method} was under way`, {
    fix: "Close the client when its calls have ended.",
  });
}

/** The members of `_meta` that the application wants: the trace context, and what it gave for this call. */
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
  // Reading it again leaves out what is malformed: tracing never breaks a call.
  const read = wanted === undefined ? undefined : readTrace(wanted);
  return read === undefined ? meta : { ...traceMeta(read), ...meta };
}
