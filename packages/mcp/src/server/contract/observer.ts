import type { Principal } from "../../http/authentication.js";
import type { Id } from "../../jsonrpc/message.js";
import type { TraceContext } from "../../protocol/trace-context.js";
import type { NetworkFacts } from "../../transport/transport.js";
import type { SessionInfo } from "./session-info.js";

/** A call as observers see it. It has neither arguments nor results, because telemetry must not leak them. */
export interface CallStarted {
  readonly method: string;
  /** The tool, prompt or URI that the call is about, where the method names one. */
  readonly name: string | undefined;
  readonly requestId: Id;
  readonly protocolVersion: string;
  /** Whether the call came over HTTP. */
  readonly http: boolean;
  /** The HTTP session that the call belongs to, if any. Whoever knows it may be able to use it: treat it as a secret. */
  readonly sessionId: string | undefined;
  /** How the call came; undefined in this process, and where the transport does not tell. */
  readonly network: NetworkFacts | undefined;
  /** The address of the client, or of the proxy in front; only over HTTP. */
  readonly remoteAddress: string | undefined;
  readonly auth: Principal | undefined;
  /** The caller's trace; spans made here are its children. */
  readonly trace: TraceContext | undefined;
}

/**
 * How a handler failed: with an `Error`, with another thrown value, because its time was over, or because its caller gave
 * the call up.
 */
export type FailureKind = "handler_error" | "handler_throw" | "timeout" | "aborted";

/** What an unexpected error is about. */
export interface CallFailure {
  /** Random; also in what the client gets instead of the error's text. */
  readonly reference: string;
  readonly kind: FailureKind;
  readonly method: string;
  /** The tool, prompt or URI that the call is about, where the method names one. */
  readonly name: string | undefined;
  readonly requestId: Id;
}

/** How a call ended. */
export interface CallEnded extends CallStarted {
  readonly durationMs: number;
  /** `tool_error` is a result with `isError`; after `input_required` the client sends another request with its answers. */
  readonly outcome: "ok" | "tool_error" | "input_required" | "error";
  /** What was thrown, unmasked, even if the caller got only part of it. */
  readonly error: unknown;
  /** How the handler failed; undefined unless it did, and for a `ToolError` or an `McpError` that it threw for the caller. */
  readonly failure: FailureKind | undefined;
  /** Length of the response in characters; 0 for the run of a task, which has no response of its own. */
  readonly length: number;
}

/** A request that was refused before it became a call: malformed, with an unknown method or an unsupported revision. */
export interface CallRefused {
  readonly method: string;
  readonly requestId: Id | undefined;
  readonly error: unknown;
}

/** A request, or a new connection, whose sender `auth` or `authenticate` has refused. */
export interface SenderRefused {
  /** The HTTP status that the sender gets; a socket closes. */
  readonly status: number;
  /** Why: a `TokenRefusalReason` of `resourceServer`, or the `reason` that `authenticate` gave. */
  readonly reason: string | undefined;
}

/**
 * A request that a call sends to its client, such as for the user's input, in revisions that ask by request. It has neither
 * parameters nor the answer.
 */
export interface QuestionStarted {
  readonly method: string;
  readonly requestId: Id;
}

/** How it ended. */
export interface QuestionEnded extends QuestionStarted {
  readonly durationMs: number;
  readonly outcome: "ok" | "error";
  readonly error: unknown;
}

/** Follows one question of a call until its answer. */
export interface QuestionFollower {
  /** The trace to send with the question, in place of the caller's. */
  readonly trace?: TraceContext | undefined;
  /** Must call `run` once, before it returns: the question is sent in there. */
  within?(run: () => void): void;
  ended?(question: QuestionEnded): void;
}

/**
 * A part of the way of a call through the server, from the outside in: `preparation` of the server, `limits` by quotas, `extensions`,
 * each `middleware`, the `handler` of the method. Within that of `tools/call` follow `arguments` (parsing and checking), `queue`
 * (waiting for a free slot), `tool` (the function of the tool) and `result` (checking and writing what it returned).
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

/** Follows one call from its start to its end. */
export interface CallFollower {
  /** Must call `run` once, before it returns: the call runs in there, so that its handler finds the ambient context of `run`. */
  within?(run: () => void): void;
  ended?(call: CallEnded): void;
  /**
   * Called before the call sends a request to its client; what it returns follows that. A mounted server's calls ask by the
   * server that it is mounted in.
   */
  question?(question: QuestionStarted): QuestionFollower | undefined;
  /**
   * Called when the call enters a layer, with the name of the tool or of the middleware's function, where there is one. The returned
   * function is called when the call leaves the layer; not for a handler that a question interrupts for good. Layers that a call
   * does not pass are not reported.
   */
  layer?(layer: CallLayer, name: string | undefined): (() => void) | undefined;
}

/** The end of a session or connection. */
export interface SessionClosed extends SessionInfo {
  readonly durationMs: number;
}

/**
 * Receives the start and end of calls and sessions, for metrics and traces. An error that it throws is logged and changes
 * nothing else.
 */
export interface Observer {
  /** Called once by `server.observe`, with the server. */
  attached?: ((server: object) => void) | undefined;
  /** Called at the start of each call, before `started`; what it returns follows that call. */
  follow?: ((call: CallStarted) => CallFollower | undefined) | undefined;
  started?: ((call: CallStarted) => void) | undefined;
  ended?: ((call: CallEnded) => void) | undefined;
  refused?: ((call: CallRefused) => void) | undefined;
  senderRefused?: ((sender: SenderRefused) => void) | undefined;
  /** A client has connected, or has opened a session on this node. */
  sessionOpened?: ((session: SessionInfo) => void) | undefined;
  /** It has left. Told only of those that were opened while this was observed. */
  sessionClosed?: ((session: SessionClosed) => void) | undefined;
}

/** The outcome of a call; recorded only if there are observers. */
export type CallEnd = Pick<CallEnded, "outcome" | "error" | "failure">;
