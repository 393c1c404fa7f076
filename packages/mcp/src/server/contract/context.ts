import type { Principal } from "../../http/authentication.js";
import type { HttpFacts } from "../../http/http.js";
import type { Id } from "../../jsonrpc/message.js";
import type { ClientCapabilities, ClientCapabilityPath } from "../../protocol/capabilities.js";
import type { Root } from "../../protocol/features/roots.js";
import type { CreateMessageRequestParams, CreateMessageResult } from "../../protocol/features/sampling.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { LoggingLevel } from "../../protocol/logging.js";
import type { TraceContext } from "../../protocol/trace-context.js";
import type { Coercion } from "../../schema/coerce.js";
import type { AnySchema, CheckedForm, InferOutput } from "../../schema/standard.js";

/** What the client says about itself. Unverified, so do not base access decisions on it. */
export interface ClientFacts {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  /** Whether the client can be asked for something, for example `elicitation.form`, over this connection. */
  can(capability: ClientCapabilityPath): boolean;
}

/** The HTTP request that carries a call. */
export interface HttpContext extends Omit<HttpFacts, "protocolHeaders"> {
  /** Closes the connection and lets the client resume after `retryMs`. False, without effect, where streams cannot resume. */
  pause(retryMs: number): boolean;
}

/** The session of a call. */
export interface ContextSession {
  /** True after `notifications/initialized`. */
  readonly initialized: boolean;
  /**
   * Ends the session once this call is answered, within 2 seconds in any case: the client's HTTP session, or its connection.
   * Handler objects get the reason. Default: `ended`.
   */
  end(reason?: string): void;
}

/** The context of one call, for handlers and middleware. */
export interface RequestContext<D = Record<string, unknown>> {
  /** Aborted when the client cancels or disconnects, and when a timeout of the server passes. */
  readonly signal: AbortSignal;
  /** The JSON-RPC id of this request. In a call with several rounds of questions, each round has its own. */
  readonly requestId: Id;
  /** The method of the request, for example `tools/call`. */
  readonly method: string;
  /** The revision of the protocol that this call uses, for example `2025-11-25`. */
  readonly protocolVersion: string;
  /** The client, and what it can be asked for. */
  readonly client: ClientFacts;
  /** The session of this client, in revisions that have sessions. */
  readonly session: ContextSession | undefined;
  /** The HTTP request of the call; undefined on pipes. */
  readonly http: HttpContext | undefined;
  /** The authenticated caller; undefined without authorization. */
  readonly auth: Principal | undefined;
  /** The `_meta` of the request; `{}` if it has none. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** Arguments that were converted from text to the type in the tool's schema. */
  readonly coercions: readonly Coercion[];
  /** The caller's trace, which questions also carry. Undefined when the caller sent none or a malformed one. */
  readonly trace: TraceContext | undefined;
  /** Values that middleware passes to handlers. The library does not read them. */
  readonly data: D;
  /** Reports progress if the client asked for it. A value that is not larger than the last one is dropped. */
  progress(progress: number, options?: ProgressOptions): void;
  /**
   * Sends a log message if the client asks for messages of this level.
   *
   * @deprecated The protocol deprecates logging; write to stderr, or use OpenTelemetry.
   */
  log(level: LoggingLevel, data: unknown, logger?: string): void;
}

/** Optional parts of a progress report. */
export interface ProgressOptions {
  /** The progress at which the work is complete. Default: unknown. */
  total?: number | undefined;
  /** What is being done, for users. Default: no text. */
  message?: string | undefined;
}

/** How a question is recognised in later rounds of the call. */
export interface QuestionOptions {
  /** Identifies the question. Default: a digest of it. Set it if the text varies, or if equal questions are asked at once. */
  key?: string | undefined;
}

/** Options of `elicitUrl`. */
export interface UrlQuestionOptions extends QuestionOptions {
  /** Identifies the visit for `elicitationComplete`. Default: a random id. */
  elicitationId?: string | undefined;
}

/** The user's reply to a form: the content, or that the user declined or dismissed it. */
export type ElicitReply<T> = { action: "accept"; content: T } | { action: "decline" } | { action: "cancel" };

/** A sampling request: a prompt for the client's model. */
export type SampleRequest = Omit<CreateMessageRequestParams, "_meta" | "task">;

/**
 * The context for handlers of tools, prompts and resources, which may ask the client before they answer.
 *
 * In revisions without sessions, the handler runs again from the top for each round of questions. Put work that must happen
 * once into `step`, and rethrow errors for which `isInputRequired` is true.
 *
 * A question rejects with an `McpError`: `capability_missing` if the client cannot be asked, `timeout` if it does not answer
 * within `limits.answerMs`, and `cancelled` if the call is cancelled.
 */
export interface HandlerContext<D = Record<string, unknown>> extends RequestContext<D> {
  /** Asks the user to fill in a form. Rejects with kind `declined` or `dismissed` if the user does not. */
  elicit<const S extends AnySchema>(
    message: string,
    schema: S & CheckedForm<S>,
    options?: QuestionOptions,
  ): Promise<InferOutput<S>>;
  /** Like `elicit`, but resolves with what the user did instead of rejecting. */
  tryElicit<const S extends AnySchema>(
    message: string,
    schema: S & CheckedForm<S>,
    options?: QuestionOptions,
  ): Promise<ElicitReply<InferOutput<S>>>;
  /** Asks the user to visit a page. Resolves when the user agrees, not when the visit is over. */
  elicitUrl(message: string, url: string, options?: UrlQuestionOptions): Promise<void>;
  /**
   * Notifies the client that a visit is over, by the `elicitationId` of `elicitUrl`. It may be called after the call has
   * ended. Does nothing in revisions without this notification.
   */
  elicitationComplete(elicitationId: string): void;
  /**
   * Asks the client's model to generate a message.
   *
   * @deprecated The protocol deprecates sampling; call the API of a model's provider instead.
   */
  sample(request: SampleRequest, options?: QuestionOptions): Promise<CreateMessageResult>;
  /**
   * Asks for the folders that the client works in.
   *
   * @deprecated The protocol deprecates roots; pass folders as arguments of tools, as resources or in the server's configuration.
   */
  roots(options?: QuestionOptions): Promise<Root[]>;
  /**
   * Identifies this call in all rounds of its questions. Use it as an idempotency key for work in `step`, because a client
   * may send the same round twice, and the step then runs twice.
   */
  readonly callId: string;
  /**
   * Answers the call with a task, and goes on as that task, if the tool has `task: { begin: "handler" }` and the client can take
   * one. Resolves with whether it is a task now; other calls go on as they are.
   */
  startTask(): Promise<boolean>;
  /** Runs `work` in the first round that reaches it, and resolves with its result, as JSON, in every round. */
  step<T>(key: string, work: () => T | Promise<T>): Promise<T>;
}
