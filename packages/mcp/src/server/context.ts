import type { HttpFacts } from "../http/http.js";
import type { Id } from "../jsonrpc/message.js";
import type { ClientCapabilities, ClientCapabilityPath } from "../protocol/capabilities.js";
import type { LoggingLevel } from "../protocol/features/logging.js";
import type { Root } from "../protocol/features/roots.js";
import type { CreateMessageRequestParams, CreateMessageResult } from "../protocol/features/sampling.js";
import type { Implementation } from "../protocol/implementation.js";
import type { TraceContext } from "../protocol/trace-context.js";
import type { Coercion } from "../schema/coerce.js";
import type { AnySchema, InferOutput } from "../schema/standard.js";
import type { Principal } from "../transport/transport.js";

/** Who called, as the client says of itself; unverified. */
export interface ClientFacts {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  /** Whether the client can do something, for example `elicitation.form`; false also where it cannot be asked. */
  can(capability: ClientCapabilityPath): boolean;
}

/** The HTTP request that carries a call. */
export interface HttpContext extends Omit<HttpFacts, "protocolHeaders"> {
  /** Closes the connection now and lets the client come back for the answer; false where streams cannot be resumed. */
  pause(retryMs: number): boolean;
}

/** What every handler receives for one call. */
export interface RequestContext<D = Record<string, unknown>> {
  /** Aborted when the client cancels or is gone, and when a deadline of the server passes. */
  readonly signal: AbortSignal;
  /** The id that the client gave to this request; every round of questions is a request of its own. */
  readonly requestId: Id;
  /** For example `tools/call`. */
  readonly method: string;
  /** The revision that the client speaks in this call, for example `2025-11-25`. */
  readonly protocolVersion: string;
  /** Who calls, and what it can be asked for. */
  readonly client: ClientFacts;
  /** What is remembered of this peer, in revisions that have sessions. */
  readonly session: { readonly initialized: boolean } | undefined;
  /** The HTTP request that carries the call; absent on pipes. */
  readonly http: HttpContext | undefined;
  /** Who authorization says is calling; absent without authorization. */
  readonly auth: Principal | undefined;
  /** The request's own `_meta`. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** Arguments that came as text and were turned into what the tool's schema asks for. */
  readonly coercions: readonly Coercion[];
  /** The trace that the caller is part of; carried on into questions. Absent when it sent none, or a malformed one. */
  readonly trace: TraceContext | undefined;
  /** Yours: what middleware puts here, handlers find here. */
  readonly data: D;
  /** Reports progress if the client asked for it. Values that do not grow are dropped. */
  progress(progress: number, options?: ProgressOptions): void;
  /** Sends a log message if the client wants messages of this level. */
  log(level: LoggingLevel, data: unknown, logger?: string): void;
}

/** What may be said beside the value of a progress report. */
export interface ProgressOptions {
  total?: number | undefined;
  message?: string | undefined;
}

/** How a question is identified over the rounds of one call. */
export interface QuestionOptions {
  /** Names the question; needed when the same question is asked twice at once, or when its words change. */
  key?: string | undefined;
}

/** Options of a page to visit. */
export interface UrlQuestionOptions extends QuestionOptions {
  /** Names the visit in revisions that announce its end; made up when absent. */
  elicitationId?: string | undefined;
}

/** The user's reply to a form, whatever it was. */
export type ElicitReply<T> = { action: "accept"; content: T } | { action: "decline" } | { action: "cancel" };

/** A question to the client's model. */
export type SampleRequest = Omit<CreateMessageRequestParams, "_meta" | "task">;

/**
 * What handlers of tools, prompts and resources receive: they may ask the client before they answer.
 *
 * In revisions without sessions the handler runs again from the top for each round of questions; work that must happen once
 * belongs in `step`, and a `catch` must rethrow what `isInputRequired` recognises.
 *
 * A question throws `McpError`: of kind `capability_missing` where the client cannot be asked, `timeout` when it does not
 * answer within `limits.answerMs`, and `cancelled` when the call is.
 */
export interface HandlerContext<D = Record<string, unknown>> extends RequestContext<D> {
  /** Asks the user to fill in a form. Throws `McpError` of kind `declined` or `dismissed` when the user does not. */
  elicit<const S extends AnySchema>(message: string, schema: S, options?: QuestionOptions): Promise<InferOutput<S>>;
  /** As `elicit`, but returns what the user did instead of throwing. */
  tryElicit<const S extends AnySchema>(
    message: string,
    schema: S,
    options?: QuestionOptions,
  ): Promise<ElicitReply<InferOutput<S>>>;
  /** Asks the user to visit a page. Resolves on consent, not when the visit is over. */
  elicitUrl(message: string, url: string, options?: UrlQuestionOptions): Promise<void>;
  /**
   * Tells the client that a visit is over, by the id given to `elicitUrl`; also after the call has ended. Does nothing in
   * revisions that have no such notice.
   */
  elicitationComplete(elicitationId: string): void;
  /** Asks the client's model. */
  sample(request: SampleRequest, options?: QuestionOptions): Promise<CreateMessageResult>;
  /** Asks which folders the client works in. */
  roots(options?: QuestionOptions): Promise<Root[]>;
  /**
   * Names this call over all rounds of its questions, for systems that take an idempotency key: a step is run once per
   * sealed state, but a client may send the same round twice.
   */
  readonly callId: string;
  /** Runs `work` once over all rounds of this call and gives its result, as JSON keeps it, every time. */
  step<T>(key: string, work: () => T | Promise<T>): Promise<T>;
}
