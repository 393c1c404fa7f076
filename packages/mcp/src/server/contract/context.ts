import type { Principal } from "../../http/authentication.js";
import type { HttpRequestInfo } from "../../http/http.js";
import type { Id } from "../../jsonrpc/message.js";
import type { ClientCapabilities, ClientCapabilityPath } from "../../protocol/capabilities.js";
import type { Root } from "../../protocol/features/roots.js";
import type { CreateMessageRequestParams, CreateMessageResult } from "../../protocol/features/sampling.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { LoggingLevel } from "../../protocol/logging.js";
import type { TraceContext } from "../../protocol/trace-context.js";
import type { Coercion } from "../../schema/coerce.js";
import type { AnySchema, CheckedForm, InferOutput } from "../../schema/standard.js";

/**
 * The client of a call. Its `info` and `capabilities` are claims that nothing verifies: do not base access decisions on
 * them.
 */
export interface ContextClient {
  /** Name and version of the client's software. Undefined if the client did not send them. */
  readonly info: Implementation | undefined;
  /** The capabilities that the client declared, such as `sampling` or `elicitation`. */
  readonly capabilities: ClientCapabilities;
  /**
   * True if the server can use this capability of the client, for example `elicitation.form`, in this revision and over
   * this connection.
   */
  can(capability: ClientCapabilityPath): boolean;
}

/** The HTTP request that carries a call: its method, path and headers, and the address of the sender. */
export interface HttpContext extends Omit<HttpRequestInfo, "protocolHeaders"> {
  /**
   * Closes the connection and lets the client resume after `retryMs` milliseconds. Returns false and does nothing if
   * the stream cannot be resumed.
   */
  pause(retryMs: number): boolean;
}

/** The session of a call. */
export interface ContextSession {
  /** True once the client has sent `notifications/initialized`. */
  readonly initialized: boolean;
  /**
   * Ends the client's HTTP session or connection after this call is answered, at the latest after 2 seconds. Handler
   * objects receive `reason`. Default: `ended`.
   */
  end(reason?: string): void;
}

/** The context of one call, for handlers and middleware. `D` is the type of `data`. */
export interface RequestContext<D = Record<string, unknown>> {
  /** Aborted when the client cancels the call or disconnects, and when a timeout of the server expires. */
  readonly signal: AbortSignal;
  /**
   * The JSON-RPC id of this request. If a call takes several rounds of questions, each round is a request with its own
   * id.
   */
  readonly requestId: Id;
  /** The method of the request, for example `tools/call`. */
  readonly method: string;
  /** The protocol revision of this call, for example `2025-11-25`. */
  readonly protocolVersion: string;
  /** The client: its name and version, its capabilities, and a test for a capability. */
  readonly client: ContextClient;
  /** The client's session. Undefined in revisions without sessions. */
  readonly session: ContextSession | undefined;
  /** The HTTP request of the call. Undefined on other transports, such as stdio. */
  readonly http: HttpContext | undefined;
  /** The authenticated caller. Undefined without authorization. */
  readonly auth: Principal | undefined;
  /** The `_meta` of the request, or `{}` if it has none. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** The arguments that the library converted from text to the type in the tool's schema. Empty if there were none. */
  readonly coercions: readonly Coercion[];
  /**
   * The caller's trace context, which the server also sends with its questions. Undefined if the caller sent none or a
   * malformed one.
   */
  readonly trace: TraceContext | undefined;
  /** Values that middleware passes on to handlers. The library does not read them. */
  readonly data: D;
  /** Reports progress if the client asked for it. Drops a value that is not larger than the previous one. */
  progress(progress: number, options?: ProgressOptions): void;
  /**
   * Sends a log message if the client wants messages of this level.
   *
   * @deprecated The protocol deprecates logging; write to stderr, or use OpenTelemetry.
   */
  log(level: LoggingLevel, data: unknown, logger?: string): void;
}

/** Optional members of a progress notification. */
export interface ProgressOptions {
  /** The value of `progress` at which the work is complete. Default: unknown. */
  total?: number | undefined;
  /** A text for users that describes the current work. Default: no text. */
  message?: string | undefined;
}

/** Options of a question: a request that a handler sends to its client, such as `ctx.elicit` or `ctx.sample`. */
export interface QuestionOptions {
  /**
   * Identifies the question in later rounds of the call. Default: a digest of the question. Set it if the text varies,
   * or if the handler asks equal questions at the same time.
   */
  key?: string | undefined;
}

/** Options of `ctx.elicitUrl`. */
export interface UrlQuestionOptions extends QuestionOptions {
  /** Identifies the visit for `ctx.elicitationComplete`. Default: a random id. */
  elicitationId?: string | undefined;
}

/** The user's reply to a form. */
export type ElicitReply<T> =
  | {
      /** `accept`: the user submitted the form. */
      action: "accept";
      /** The content of the form, parsed by its schema. */
      content: T;
    }
  | {
      /** `decline`: the user refused to answer. */
      action: "decline";
    }
  | {
      /** `cancel`: the user closed the form without an answer. */
      action: "cancel";
    };

/** A sampling request: messages for the client's model, and how it should generate an answer. */
export type SampleRequest = Omit<CreateMessageRequestParams, "_meta" | "task">;

/**
 * The context for handlers of tools, prompts and resources. They may ask the client questions before they answer: for
 * input from the user, for a message from the client's model, or for the client's roots.
 *
 * In revisions without sessions, the handler runs again from the beginning for each round of questions. Put work that
 * must happen once into `step`, and rethrow errors for which `isInputRequired` returns true.
 *
 * A question rejects with an `McpError`: `capability_missing` if the client does not support the question, `timeout` if
 * the client does not answer within `limits.answerMs`, and `cancelled` if the call is cancelled.
 */
export interface HandlerContext<D = Record<string, unknown>> extends RequestContext<D> {
  /**
   * Asks the user to fill in a form and resolves with its content. Rejects with kind `declined` or `dismissed` if the
   * user declines or closes the form.
   */
  elicit<const S extends AnySchema>(
    message: string,
    schema: S & CheckedForm<S>,
    options?: QuestionOptions,
  ): Promise<InferOutput<S>>;
  /** Like `elicit`, but resolves with the user's action instead of rejecting. */
  tryElicit<const S extends AnySchema>(
    message: string,
    schema: S & CheckedForm<S>,
    options?: QuestionOptions,
  ): Promise<ElicitReply<InferOutput<S>>>;
  /** Asks the user to visit a page. Resolves when the user agrees, before the visit is complete. */
  elicitUrl(message: string, url: string, options?: UrlQuestionOptions): Promise<void>;
  /**
   * Notifies the client that the visit that `elicitUrl` started with this `elicitationId` is complete. May be called
   * after the call has ended. Does nothing in revisions without this notification.
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
   * Identifies this call in all rounds of its questions. Use it as an idempotency key for work in `step`: a client may
   * send the same round twice, and the step then runs twice.
   */
  readonly callId: string;
  /**
   * Answers the call with a task and continues as that task, if the tool has `task: { begin: "handler" }` and the
   * client supports tasks. Resolves with true if the call is now a task; otherwise the call continues unchanged.
   */
  startTask(): Promise<boolean>;
  /**
   * Runs `work` in the first round that reaches this step. Later rounds do not run `work` again. Resolves in every
   * round with the result of `work` after a round trip through JSON.
   */
  step<T>(key: string, work: () => T | Promise<T>): Promise<T>;
}
