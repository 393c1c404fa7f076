import type { Id } from "../../jsonrpc/message.js";
import type { TraceContext } from "../../protocol/trace-context.js";
import type { NetworkFacts } from "../../transport/transport.js";
import type { StateChange } from "./events.js";

/** A request as observers of a client see it: one message, so that a call with questions or a second attempt has several. */
export interface RequestStarted {
  readonly method: string;
  /** The tool, prompt or URI that the request is about, where the method names one. */
  readonly name: string | undefined;
  readonly requestId: Id;
  /** The id of the first request of the same call; a call with questions, or that is sent again, has several requests. */
  readonly callId: Id;
  /** 1, or more when it was sent again after a lost connection. */
  readonly attempt: number;
  /** Undefined before the handshake has ended. */
  readonly protocolVersion: string | undefined;
  /** The session of the server, if any. Whoever knows it may be able to use it: treat it as a secret. */
  readonly sessionId: string | undefined;
  /** How it travels; undefined in this process, and where the transport does not tell. */
  readonly network: NetworkFacts | undefined;
  /** The trace that the call was given by its options, if any. */
  readonly trace: TraceContext | undefined;
  /** The server's address for people, without secrets. */
  readonly target: string;
}

/** How a request ended. */
export interface RequestEnded extends RequestStarted {
  readonly durationMs: number;
  /** `tool_error` is a result with `isError`; `input_required` a result that asks for something first. */
  readonly outcome: "ok" | "tool_error" | "input_required" | "error";
  readonly error: unknown;
}

/** Follows one request from its start to its end. */
export interface RequestFollower {
  /** The trace to send with the request, in place of the one that the call was given. */
  readonly trace?: TraceContext | undefined;
  /** Must call `run` once, before it returns: the request is sent in there. */
  within?(run: () => void): void;
  ended?(request: RequestEnded): void;
  /** Called before `ended` with what was sent and what came; only for those who ask for it by having this method. */
  content?(params: object | undefined, result: unknown): void;
}

/** A request of the server, such as for the user's input, as observers of the client that answers it see it. */
export interface AnswerStarted {
  readonly method: string;
  readonly requestId: Id;
  readonly protocolVersion: string;
  /** The session of the server, if any. Whoever knows it may be able to use it: treat it as a secret. */
  readonly sessionId: string | undefined;
  /** How it came; undefined in this process, and where the transport does not tell. */
  readonly network: NetworkFacts | undefined;
  /** The trace that the server sent with it; spans made here are its children. */
  readonly trace: TraceContext | undefined;
  /** The server's address for people, without secrets. */
  readonly target: string;
}

/** How a request of the server was answered. */
export interface AnswerEnded extends AnswerStarted {
  readonly durationMs: number;
  /** `cancelled`: the server took its request back and gets no answer. */
  readonly outcome: "ok" | "error" | "cancelled";
  /** The error that the server gets, if it does. */
  readonly error: { readonly code: number; readonly message: string } | undefined;
}

/** Follows one request of the server until it is answered. */
export interface AnswerFollower {
  /** Must call `run` once, before it returns: the answer is sought in there, so that `onElicit` and the like find its context. */
  within?(run: () => void): void;
  ended?(answer: AnswerEnded): void;
}

/** A change of the state of a connection. */
export interface ConnectionChange extends StateChange {
  readonly target: string;
  readonly protocolVersion: string | undefined;
  readonly network: NetworkFacts | undefined;
  /** Present if the change ended a session with the server: how long it was ready. */
  readonly sessionMs: number | undefined;
}

/**
 * Receives the requests of a client and the states of its connection, for metrics and traces. What it throws is reported and
 * changes nothing else. Without observers requests cost nothing extra.
 */
export interface ClientObserver {
  /** Called before each request is sent, those of the handshake included; what it returns follows that request. */
  request?: ((request: RequestStarted) => RequestFollower | undefined) | undefined;
  /** Called when the server sends a request other than `ping`; what it returns follows the answer. */
  answer?: ((request: AnswerStarted) => AnswerFollower | undefined) | undefined;
  /** Called when the connection is being opened, ready, lost and closed. */
  state?: ((change: ConnectionChange) => void) | undefined;
  /** Called when the server sent something that is not a message, or that it must not send; also during the handshake. */
  fault?: ((error: Error) => void) | undefined;
}
