import type { Principal } from "../../http/authentication.js";
import type { Id } from "../../jsonrpc/message.js";
import type { TraceContext } from "../../protocol/trace-context.js";
import type { NetworkInfo } from "../../transport/transport.js";
import type { SessionInfo } from "./session-info.js";

/** A call as observers see it. It contains neither arguments nor results, because telemetry must not leak them. */
export interface CallStarted {
  /** The method of the request, for example `tools/call`. */
  readonly method: string;
  /** The tool, prompt or URI that the request names. Undefined for other methods. */
  readonly name: string | undefined;
  /** The JSON-RPC id of the request. */
  readonly requestId: Id;
  /** The protocol revision of the call, for example `2025-11-25`. */
  readonly protocolVersion: string;
  /** True if the call arrived over HTTP. */
  readonly http: boolean;
  /**
   * The id of the call's HTTP session, if it has one. Treat the id as a secret: it may be enough to use the session.
   */
  readonly sessionId: string | undefined;
  /**
   * The network connection that carried the call. Undefined for a client in this process, and if the transport does not
   * report it.
   */
  readonly network: NetworkInfo | undefined;
  /** The address of the client, or of the proxy in front of the server. Only over HTTP. */
  readonly remoteAddress: string | undefined;
  /** The authenticated caller. Undefined without authorization. */
  readonly auth: Principal | undefined;
  /** The caller's trace context, to use as the parent of new spans. */
  readonly trace: TraceContext | undefined;
}

/**
 * The way in which a handler failed. `handler_error`: it threw an unexpected `Error`. `handler_throw`: it threw another
 * value. `timeout`: its time limit expired. `aborted`: the caller cancelled the call or disconnected.
 */
export type FailureKind = "handler_error" | "handler_throw" | "timeout" | "aborted";

/** The call in which an unexpected error occurred. */
export interface CallFailure {
  /** A random reference, which the client also gets if the text of the error is masked. */
  readonly reference: string;
  /** The way in which the handler failed. */
  readonly kind: FailureKind;
  /** The method of the request. */
  readonly method: string;
  /** The tool, prompt or URI that the request names. Undefined for other methods. */
  readonly name: string | undefined;
  /** The JSON-RPC id of the request. */
  readonly requestId: Id;
}

/** A call that has ended, with its outcome. */
export interface CallEnded extends CallStarted {
  /** Time in milliseconds from the start of the call to its end. */
  readonly durationMs: number;
  /**
   * The kind of outcome. `tool_error` is a result with `isError`. After `input_required` the client sends another
   * request with its answers.
   */
  readonly outcome: "ok" | "tool_error" | "input_required" | "error";
  /**
   * The error that ended the call, unmasked, even if the caller got only part of it. Undefined if nothing was thrown.
   */
  readonly error: unknown;
  /**
   * The way in which the handler failed. Undefined if the handler did not fail, and for errors that are meant for the
   * caller, such as a `ToolError`.
   */
  readonly failure: FailureKind | undefined;
  /**
   * Length of the response in characters. 0 for a call without a response of its own: the run of a task, or a call to a
   * mounted server.
   */
  readonly length: number;
}

/**
 * A request that the server refused before it became a call: malformed, with an unknown method, or with an unsupported
 * revision.
 */
export interface CallRefused {
  /** The method that the request names. */
  readonly method: string;
  /** The JSON-RPC id of the request. Undefined if the request has no id. */
  readonly requestId: Id | undefined;
  /** The error that the server answered with. */
  readonly error: unknown;
}

/** A request or a new connection that `auth` or `authenticate` refused. */
export interface SenderRefused {
  /**
   * The HTTP status of the refusal. On a socket, the server closes the connection instead of answering with the status.
   */
  readonly status: number;
  /** The reason: a `TokenRefusalReason` of `resourceServer`, or the `reason` that `authenticate` returned. */
  readonly reason: string | undefined;
}

/**
 * A question that a call sends to its client as a request, such as an elicitation, in revisions that have such
 * requests. It contains neither the parameters nor the answer.
 */
export interface QuestionStarted {
  /** The method of the question, for example `elicitation/create`. */
  readonly method: string;
  /** The JSON-RPC id of the question. */
  readonly requestId: Id;
}

/** A question that has ended, with its outcome. */
export interface QuestionEnded extends QuestionStarted {
  /** Time in milliseconds from the start of the question to its end. */
  readonly durationMs: number;
  /** `ok` if the client answered with a result. */
  readonly outcome: "ok" | "error";
  /** The error that ended the question. Undefined if the outcome is `ok`. */
  readonly error: unknown;
}

/** Observes one question of a call until its answer. */
export interface QuestionFollower {
  /** The trace context to send with the question instead of the caller's trace context. */
  readonly trace?: TraceContext | undefined;
  /** Wraps the sending of the question. Must call `run` once, synchronously. */
  within?(run: () => void): void;
  /** Called when the question is answered or has failed. */
  ended?(question: QuestionEnded): void;
}

/**
 * A stage of a call on its way through the server, from the outside in: `preparation` (preparing the server), `limits`
 * (checking quotas), `extensions`, each `middleware`, and `handler` (the handler of the method). The handler of
 * `tools/call` contains further layers: `arguments` (parsing and checking them), `queue` (waiting for a free slot),
 * `tool` (the tool's function) and `result` (checking and serialising its result).
 */
export type CallLayer =
  | "preparation"
  | "limits"
  | "extensions"
  | "middleware"
  | "handler"
  | "arguments"
  | "queue"
  | "tool"
  | "result";

/** Observes one call from its start to its end. */
export interface CallFollower {
  /**
   * Wraps the call. Must call `run` once, synchronously. The call runs inside `run`, so its handler sees the ambient
   * context in which `run` was called.
   */
  within?(run: () => void): void;
  /** Called when the call has ended, with its outcome. */
  ended?(call: CallEnded): void;
  /**
   * Called before the call sends a question to its client. The returned follower observes that question. Calls to a
   * mounted server send their questions through the outer server, so the observers of the outer server see them.
   */
  question?(question: QuestionStarted): QuestionFollower | undefined;
  /**
   * Called when the call enters a layer. `name` is the name of the tool or of the middleware function, if there is one.
   * The returned function is called when the call leaves the layer. It is not called if a question interrupts the
   * handler and the handler then never settles. Layers that a call skips are not reported.
   */
  layer?(layer: CallLayer, name: string | undefined): (() => void) | undefined;
}

/** A session or connection that has ended. */
export interface SessionClosed extends SessionInfo {
  /** Time in milliseconds since the session or connection was opened. */
  readonly durationMs: number;
}

/**
 * Receives the start and end of calls and sessions, for metrics and traces. The server logs an error that an observer
 * throws, and continues.
 */
export interface Observer {
  /** Called once by `server.observe`, with the server. */
  attached?: ((server: object) => void) | undefined;
  /** Called at the start of each call, before `started`. The returned follower observes that call. */
  follow?: ((call: CallStarted) => CallFollower | undefined) | undefined;
  /** Called when a call starts. */
  started?: ((call: CallStarted) => void) | undefined;
  /** Called when a call has ended, with its outcome. */
  ended?: ((call: CallEnded) => void) | undefined;
  /** Called when the server refuses a request before it becomes a call. */
  refused?: ((call: CallRefused) => void) | undefined;
  /** Called when `auth` or `authenticate` refuses a sender. */
  senderRefused?: ((sender: SenderRefused) => void) | undefined;
  /** Called when a client has connected, or has opened a session on this node. */
  sessionOpened?: ((session: SessionInfo) => void) | undefined;
  /**
   * Called when a session or connection has ended. Only for sessions and connections that opened while the server had
   * observers.
   */
  sessionClosed?: ((session: SessionClosed) => void) | undefined;
}

/** The outcome of a call. Recorded only if there are observers. */
export type CallEnd = Pick<CallEnded, "outcome" | "error" | "failure">;
