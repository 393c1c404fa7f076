import { neverUnhandled } from "../../encoding/maybe-promise.js";
import { compileSchema } from "../../protocol/compile-schema.js";
import { McpError } from "../../protocol/error.js";
import type { Root } from "../../protocol/features/roots.js";
import type { CreateMessageResult } from "../../protocol/features/sampling.js";
import type { LoggingLevel } from "../../protocol/logging.js";
import { standardFormats } from "../../schema/json-schema/formats.js";
import { describeIssues, type Parser } from "../../schema/parse.js";
import { type AnySchema, type InferOutput, isStandardSchema } from "../../schema/standard.js";
import type {
  ContextClient,
  ElicitReply,
  HandlerContext,
  ProgressOptions,
  QuestionOptions,
  SampleRequest,
  UrlQuestionOptions,
} from "../../server/contract/context.js";
import { outcomeOf, type PortableError, type PortableOutcome, revivedError, unwrapped } from "./portable-outcome.js";
import {
  type AskName,
  type ContextUse,
  type FromWorker,
  type IsolatedCallInfo,
  MAX_UNREAD_NOTICES,
  type NoticeName,
} from "./worker-messages.js";

/** Maximum number of context uses of one call that wait for a result. Further uses are rejected. */
const MAX_PENDING_USES = 1000;

interface PendingUse {
  readonly settle: (outcome: PortableOutcome) => void;
  readonly work: (() => unknown) | undefined;
}

/**
 * The context of a call inside a worker. Forwards each use of a method to the serving thread. Uses in one turn are sent
 * together.
 */
export class IsolatedContext implements HandlerContext {
  readonly #call: number;
  readonly #post: (message: FromWorker) => void;
  readonly #abort = new AbortController();
  readonly #pendingUses = new Map<number, PendingUse>();
  #unsentUses: ContextUse[] = [];
  #asks = 0;
  #unread = 0;
  /** The latest progress, held back until earlier notices are acknowledged. */
  #latestProgress: readonly unknown[] | undefined;
  #ended = false;
  readonly client: ContextClient;
  readonly session: HandlerContext["session"];
  readonly http = undefined;
  readonly requestId: IsolatedCallInfo["requestId"];
  readonly method: IsolatedCallInfo["method"];
  readonly protocolVersion: IsolatedCallInfo["protocolVersion"];
  readonly auth: IsolatedCallInfo["auth"];
  readonly meta: IsolatedCallInfo["meta"];
  readonly coercions: IsolatedCallInfo["coercions"];
  readonly trace: IsolatedCallInfo["trace"];
  readonly data: IsolatedCallInfo["data"];
  readonly callId: IsolatedCallInfo["callId"];

  constructor(call: number, callInfo: IsolatedCallInfo, post: (message: FromWorker) => void) {
    this.#call = call;
    this.requestId = callInfo.requestId;
    this.method = callInfo.method;
    this.protocolVersion = callInfo.protocolVersion;
    this.auth = callInfo.auth;
    this.meta = callInfo.meta;
    this.coercions = callInfo.coercions;
    this.trace = callInfo.trace;
    this.data = callInfo.data;
    this.callId = callInfo.callId;
    this.#post = post;
    const { clientInfo: info, clientCapabilities: capabilities, can, initialized } = callInfo;
    this.client = { info, capabilities, can: (capability) => can.includes(capability) };
    this.session =
      initialized === undefined ? undefined : { initialized, end: (reason) => this.#notice("endSession", [reason]) };
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  progress(progress: number, options?: ProgressOptions): void {
    this.#notice("progress", [progress, options]);
  }

  log(level: LoggingLevel, data: unknown, logger?: string): void {
    // Reduce the data to JSON, which is what the client receives. Other values may not survive the transfer to the
    // serving thread.
    this.#notice("log", [level, data === undefined ? undefined : JSON.parse(JSON.stringify(data) ?? "null"), logger]);
  }

  elicitationComplete(elicitationId: string): void {
    this.#notice("elicitationComplete", [elicitationId]);
  }

  elicit<const S extends AnySchema>(message: string, schema: S, options?: QuestionOptions): Promise<InferOutput<S>>;
  elicit(message: string, schema: AnySchema, options?: QuestionOptions): Promise<unknown> {
    return this.#elicit("elicit", message, schema, options, read);
  }

  tryElicit<const S extends AnySchema>(
    message: string,
    schema: S,
    options?: QuestionOptions,
  ): Promise<ElicitReply<InferOutput<S>>>;
  tryElicit(message: string, schema: AnySchema, options?: QuestionOptions): Promise<ElicitReply<unknown>> {
    return this.#elicit("tryElicit", message, schema, options, async (reply, parser) => {
      // Safe: the method of this name resolves to this type in the serving thread.
      const { action, content } = reply as { action: "accept"; content: unknown };
      return action === "accept" ? { action, content: await read(content, parser) } : { action };
    });
  }

  /**
   * Sends only the JSON Schema with the question and parses the answer in the worker, because schemas from validation
   * libraries contain functions, which cannot be sent to the serving thread.
   */
  #elicit<T>(
    name: AskName,
    message: string,
    schema: AnySchema,
    options: QuestionOptions | undefined,
    readReply: (reply: unknown, parser: Parser | undefined) => Promise<T>,
  ): Promise<T> {
    // Runs before the first `await`, so that questions asked together are sent together.
    const asked = () => {
      const parser = isStandardSchema(schema)
        ? compileSchema(schema, { io: "input", what: "a question", formats: standardFormats })
        : undefined;
      const reply = this.#ask(name, [message, parser?.jsonSchema ?? schema, options]);
      return reply.then((value) => readReply(value, parser));
    };
    return neverUnhandled(attempt(asked));
  }

  elicitUrl(message: string, url: string, options?: UrlQuestionOptions): Promise<void> {
    // Safe, as in the methods below: the method of this name resolves to this type in the serving thread.
    return this.#ask("elicitUrl", [message, url, options]) as Promise<void>;
  }

  sample(request: SampleRequest, options?: QuestionOptions): Promise<CreateMessageResult> {
    return this.#ask("sample", [request, options]) as Promise<CreateMessageResult>;
  }

  roots(options?: QuestionOptions): Promise<Root[]> {
    return this.#ask("roots", [options]) as Promise<Root[]>;
  }

  startTask(): Promise<boolean> {
    return this.#ask("startTask", []) as Promise<boolean>;
  }

  step<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    return this.#ask("step", [key], work) as Promise<T>;
  }

  /** Aborts the signal of the call. */
  abort(reason: PortableError): void {
    this.#abort.abort(revivedError(reason));
  }

  answer(ask: number, outcome: PortableOutcome): void {
    const open = this.#pendingUses.get(ask);
    this.#pendingUses.delete(ask);
    open?.settle(outcome);
  }

  /** Runs the work of a step and sends its outcome. */
  async work(ask: number): Promise<void> {
    const { work } = this.#pendingUses.get(ask) ?? {};
    if (work === undefined) return;
    this.#post({ type: "worked", call: this.#call, ask, outcome: await outcomeOf(work) });
  }

  /** Handles the acknowledgement of all notices sent so far. */
  read(): void {
    this.#unread = 0;
    this.#sendLatestProgress();
  }

  /**
   * Called when the handler's promise has settled. Work that the handler left running can no longer use the context.
   */
  end(): void {
    this.#sendUses();
    this.#sendLatestProgress();
    this.#ended = true;
  }

  #ask(name: AskName, params: readonly unknown[], work?: () => unknown): Promise<unknown> {
    const asked = new Promise((resolve, reject) => {
      if (this.#ended) throw new McpError("cancelled", "the call has ended");
      if (this.#pendingUses.size >= MAX_PENDING_USES) {
        throw new McpError("limit_exceeded", `a call waits for more than ${MAX_PENDING_USES} answers at once`);
      }
      const ask = ++this.#asks;
      const item = { ask, name, params: structuredClone(params) };
      const settle = (outcome: PortableOutcome) => {
        try {
          resolve(unwrapped(outcome));
        } catch (error) {
          reject(error);
        }
      };
      this.#pendingUses.set(ask, { settle, work });
      if (this.#unsentUses.push(item) === 1) setImmediate(() => this.#sendUses());
    });
    return neverUnhandled(asked);
  }

  #sendUses(): void {
    const asked = this.#unsentUses;
    if (asked.length === 0 || this.#ended) return;
    this.#unsentUses = [];
    this.#post({ type: "asked", call: this.#call, asked });
  }

  /**
   * Sends a notice. If too many are unacknowledged, stores only the latest progress for later and drops logs. Other
   * notices are dropped at twice that limit. A tight loop therefore cannot fill the memory of the serving thread.
   */
  #notice(name: NoticeName, params: readonly unknown[]): void {
    if (this.#ended) return;
    const limit = name === "progress" || name === "log" ? MAX_UNREAD_NOTICES : 2 * MAX_UNREAD_NOTICES;
    if (this.#unread < limit) {
      this.#unread++;
      this.#post({ type: "notice", call: this.#call, name, params });
    } else if (name === "progress") this.#latestProgress = params;
  }

  #sendLatestProgress(): void {
    const held = this.#latestProgress;
    this.#latestProgress = undefined;
    if (held !== undefined && !this.#ended) {
      this.#post({ type: "notice", call: this.#call, name: "progress", params: held });
    }
  }
}

/** Turns an exception of `start` into a rejection. */
async function attempt<T>(start: () => Promise<T>): Promise<T> {
  return start();
}

async function read(content: unknown, parser: Parser | undefined): Promise<unknown> {
  if (parser === undefined) return content;
  const parsed = await parser.parse(content);
  if (parsed.ok) return parsed.value;
  const problems = describeIssues(parsed.issues);
  throw new McpError("invalid_params", `an answer does not fit the requested schema: ${problems}`, {
    data: { requestedSchema: parser.jsonSchema },
  });
}
