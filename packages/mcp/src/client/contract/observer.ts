import type { Id } from "../../jsonrpc/message.js";
import type { TraceContext } from "../../protocol/trace-context.js";
import type { NetworkInfo } from "../../transport/transport.js";
import type { StateChange } from "./events.js";

/**
 * A request that the client sends, as observers see it. A call with questions or a second attempt has several requests.
 */
export interface RequestStarted {
  /** The method of the request. */
  readonly method: string;
  /** The tool, prompt or URI of the request, if the method names one. */
  readonly name: string | undefined;
  /** The JSON-RPC id of the request. */
  readonly requestId: Id;
  /** The id of the first request of the same call. */
  readonly callId: Id;
  /** 1, or 2 once the call was sent again after a failure, such as a lost connection. */
  readonly attempt: number;
  /** The negotiated revision. Undefined during the handshake. */
  readonly protocolVersion: string | undefined;
  /** The session id of the server, if any. Treat it as a secret: it may be enough to use the session. */
  readonly sessionId: string | undefined;
  /** The network protocol and peer. Undefined for in-process connections, and if the transport does not report it. */
  readonly network: NetworkInfo | undefined;
  /** The trace context from the options of the call, if any. */
  readonly trace: TraceContext | undefined;
  /** The server's address for display, without secrets. */
  readonly target: string;
}

/** The end of a request. */
export interface RequestEnded extends RequestStarted {
  /** The time from sending the request to its end, in milliseconds. */
  readonly durationMs: number;
  /** `tool_error`: a result with `isError`. `input_required`: a result that asks questions first. */
  readonly outcome: "ok" | "tool_error" | "input_required" | "error";
  /** The error that the request failed with. Undefined unless `outcome` is `error`. */
  readonly error: unknown;
}

/** Follows one request from its start to its end. */
export interface RequestFollower {
  /** The trace context to send with the request, in place of the trace context of the call. */
  readonly trace?: TraceContext | undefined;
  /** Must call `run` exactly once before it returns. `run` sends the request. */
  within?(run: () => void): void;
  /** Called when the request has ended. */
  ended?(request: RequestEnded): void;
  /** Called before `ended` with the parameters and the result. Define it only if they are needed. */
  content?(params: object | undefined, result: unknown): void;
}

/** A request of the server, such as an elicitation, as observers of the answering client see it. */
export interface AnswerStarted {
  /** The method of the request. */
  readonly method: string;
  /** The JSON-RPC id of the request. */
  readonly requestId: Id;
  /** The negotiated revision. */
  readonly protocolVersion: string;
  /** The session id of the server, if any. Treat it as a secret: it may be enough to use the session. */
  readonly sessionId: string | undefined;
  /** The network protocol and peer. Undefined for in-process connections, and if the transport does not report it. */
  readonly network: NetworkInfo | undefined;
  /** The trace context that the server sent with the request. Spans of the observer should be its children. */
  readonly trace: TraceContext | undefined;
  /** The server's address for display, without secrets. */
  readonly target: string;
}

/** The end of a request of the server. */
export interface AnswerEnded extends AnswerStarted {
  /** The time from the arrival of the request to its answer, in milliseconds. */
  readonly durationMs: number;
  /** `cancelled`: the server withdrew its request and gets no answer. */
  readonly outcome: "ok" | "error" | "cancelled";
  /** The error sent to the server, if any. */
  readonly error: { readonly code: number; readonly message: string } | undefined;
}

/** Follows one request of the server until it is answered. */
export interface AnswerFollower {
  /**
   * Must call `run` exactly once before it returns. `run` starts the answer, so that `onElicit` and other handlers run
   * in the context that `within` sets.
   */
  within?(run: () => void): void;
  /** Called when the request is answered or withdrawn. */
  ended?(answer: AnswerEnded): void;
}

/** A change of the state of a connection, as observers see it. */
export interface ConnectionChange extends StateChange {
  /** The server's address for display, without secrets. */
  readonly target: string;
  /** The negotiated revision. Undefined before the first handshake. */
  readonly protocolVersion: string | undefined;
  /** The network protocol and peer. Undefined for in-process connections, and if the transport does not report it. */
  readonly network: NetworkInfo | undefined;
  /**
   * How long the session that just ended had been ready, in milliseconds. Undefined if the change ended no session.
   */
  readonly sessionMs: number | undefined;
}

/**
 * Observes the requests of a client and the states of its connection, for metrics and traces. Errors of an observer are
 * reported and have no other effect. Without observers requests have no extra cost.
 */
export interface ClientObserver {
  /**
   * Called before each request is sent, including those of the handshake. The returned follower observes that request.
   */
  request?: ((request: RequestStarted) => RequestFollower | undefined) | undefined;
  /** Called when the server sends a request other than `ping`. The returned follower observes the answer. */
  answer?: ((request: AnswerStarted) => AnswerFollower | undefined) | undefined;
  /** Called when the connection is opening, ready, lost or closed. */
  state?: ((change: ConnectionChange) => void) | undefined;
  /**
   * Called when the server sends something that is not a message, or a message that it must not send, also during the
   * handshake.
   */
  fault?: ((error: Error) => void) | undefined;
}
