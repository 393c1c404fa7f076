import { neverUnhandled } from "../../encoding/maybe-promise.js";
import type { Principal } from "../../http/authentication.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { Root } from "../../protocol/features/roots.js";
import type { CreateMessageResult } from "../../protocol/features/sampling.js";
import { type LoggingLevel, passesLevel } from "../../protocol/logging.js";
import { readTrace, type TraceContext } from "../../protocol/trace-context.js";
import type { Coercion } from "../../schema/coerce.js";
import type { AnySchema, InferOutput } from "../../schema/standard.js";
import { canAsk } from "../call/can-ask.js";
import { ProgressReporter } from "../call/progress.js";
import type { ServerCall } from "../call/server-call.js";
import type {
  ContextClient,
  ElicitReply,
  HandlerContext,
  HttpContext,
  ProgressOptions,
  QuestionOptions,
  SampleRequest,
  UrlQuestionOptions,
} from "../contract/context.js";
import { type AskingModule, askWith, loadedAsking } from "./with-asking.js";

/**
 * The context of one call. Members are getters on the prototype, so that a call pays only for those that its handler
 * uses.
 */
class CallContext implements HandlerContext {
  readonly #call: ServerCall;
  #data: Record<string, unknown> | undefined;
  #client: ContextClient | undefined;
  #progress: ProgressReporter | undefined;

  constructor(call: ServerCall) {
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get requestId() {
    return this.#call.request.id;
  }

  get method(): string {
    return this.#call.request.method;
  }

  get protocolVersion(): string {
    return this.#call.request.revision;
  }

  get client(): ContextClient {
    this.#client ??= clientOf(this.#call);
    return this.#client;
  }

  get session(): HandlerContext["session"] {
    const { exchange, request } = this.#call;
    const { session } = request;
    if (session === undefined) return undefined;
    return { initialized: session.initialized, end: (reason = "ended") => exchange.peer?.end?.(reason, exchange.id) };
  }

  get http(): HttpContext | undefined {
    const { http, pause } = this.#call.exchange;
    if (http === undefined) return undefined;
    return {
      method: http.method,
      path: http.path,
      header: (name) => http.header(name.toLowerCase()),
      headers: () => http.headers(),
      ...(http.remoteAddress === undefined ? {} : { remoteAddress: http.remoteAddress }),
      pause: (retryMs) => {
        pause?.call(this.#call.exchange, retryMs);
        return pause !== undefined;
      },
    };
  }

  get auth(): Principal | undefined {
    return this.#call.exchange.principal ?? this.#call.exchange.peer?.principal;
  }

  get meta(): Readonly<Record<string, unknown>> {
    const meta = this.#call.request.params["_meta"];
    return isObject(meta) ? meta : {};
  }

  get coercions(): readonly Coercion[] {
    return this.#call.coercions;
  }

  get trace(): TraceContext | undefined {
    return readTrace(this.meta);
  }

  get data(): Record<string, unknown> {
    this.#data ??= this.#call.outer?.ctx.data ?? {};
    return this.#data;
  }

  progress(progress: number, options?: ProgressOptions): void {
    const { outer } = this.#call;
    if (outer !== undefined) {
      this.#innerProgress(outer, progress, options);
      return;
    }
    this.#progress ??= new ProgressReporter(this.#call);
    this.#progress.report(progress, options);
  }

  /**
   * Reports progress through the outer call. Only the root call has a reporter, so that the values of a token increase
   * across all mounted servers.
   */
  #innerProgress(outer: ServerCall, progress: number, options: ProgressOptions = {}): void {
    const { progressToken } = this.#call.request;
    if (progressToken === undefined) return;
    const params = { progressToken, progress, total: options.total, message: options.message };
    this.#call.passNotification("notifications/progress", params, (passed) => {
      // The reporter drops values that are not numbers.
      const { progress: changed, ...others } = passed as typeof params;
      outer.ctx.progress(changed, others);
    });
  }

  log(level: LoggingLevel, data: unknown, logger?: string): void {
    const { request, config } = this.#call;
    if (!config.logging) return;
    if (request.logLevel === undefined || !passesLevel(level, request.logLevel)) return;
    this.#call.notify("notifications/message", { level, logger, data });
  }

  elicit<const S extends AnySchema>(message: string, schema: S, options?: QuestionOptions): Promise<InferOutput<S>>;
  elicit(message: string, schema: AnySchema, options: QuestionOptions = {}): Promise<unknown> {
    return this.#ask("elicit", (asking, call) => asking.elicit(call, message, schema, options));
  }

  tryElicit<const S extends AnySchema>(
    message: string,
    schema: S,
    options?: QuestionOptions,
  ): Promise<ElicitReply<InferOutput<S>>>;
  tryElicit(message: string, schema: AnySchema, options: QuestionOptions = {}): Promise<ElicitReply<unknown>> {
    return this.#ask("tryElicit", (asking, call) => asking.tryElicit(call, message, schema, options));
  }

  elicitUrl(message: string, url: string, options: UrlQuestionOptions = {}): Promise<void> {
    return this.#ask("elicitUrl", (asking, call) => asking.elicitUrl(call, message, url, options));
  }

  elicitationComplete(elicitationId: string): void {
    const { request, exchange } = this.#call;
    const text = request.era.notification("notifications/elicitation/complete", { elicitationId }, request);
    if (text === undefined) return;
    // The visit may end long after the call was answered, so the notification goes to the peer if there is one.
    if (exchange.peer === undefined) exchange.send(text);
    else exchange.peer.send(text);
  }

  sample(request: SampleRequest, options: QuestionOptions = {}): Promise<CreateMessageResult> {
    return this.#ask("sample", (asking, call) => asking.sample(call, request, options));
  }

  roots(options: QuestionOptions = {}): Promise<Root[]> {
    return this.#ask("roots", (asking, call) => asking.roots(call, options));
  }

  get callId(): string {
    return this.#call.callId;
  }

  startTask(): Promise<boolean> {
    return this.#call.root.admission?.startTask?.() ?? Promise.resolve(false);
  }

  step<T>(key: string, work: () => T | Promise<T>): Promise<T>;
  step(key: string, work: () => unknown): Promise<unknown> {
    return this.#ask("step", (asking, call) => asking.askerOf(call).step(key, work));
  }

  /**
   * Asks, and lists the question as unsettled until it settles. Rejects instead of throwing, because a `.catch` of the
   * handler would miss a synchronous throw.
   */
  #ask<T>(name: string, question: (asking: AskingModule, call: ServerCall) => Promise<T>): Promise<T> {
    const call = this.#call;
    if (call.row.mayAsk !== true) return this.#mayNotAsk();
    call.root.questions ??= {};
    call.root.questions.unsettled ??= [];
    const { unsettled } = call.root.questions;
    unsettled.push(name);
    const asked =
      loadedAsking === undefined
        ? askWith(call, (asking) => question(asking, call))
        : neverUnhandled(question(loadedAsking, call));
    const settled = () => void unsettled.splice(unsettled.indexOf(name), 1);
    asked.then(settled, settled);
    return asked;
  }

  #mayNotAsk(): Promise<never> {
    return neverUnhandled(Promise.reject(mayNotAsk(this.method)));
  }
}

/** Creates the context of a call. */
export function callContext(call: ServerCall): HandlerContext {
  return new CallContext(call);
}

function clientOf(call: ServerCall): ContextClient {
  const { clientInfo, clientCapabilities } = call.request;
  return { info: clientInfo, capabilities: clientCapabilities, can: (capability) => canAsk(call, capability) };
}

function mayNotAsk(method: string): McpError {
  return new McpError("misuse", `a handler of ${method} cannot ask the client`, {
    fix: "Ask in the handler of a tool, a prompt or a resource.",
  });
}
