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
  type CallFacts,
  type ContextUse,
  type FromWorker,
  MAX_UNREAD_NOTICES,
  type NoticeName,
} from "./worker-messages.js";

/** Uses of the context without an answer yet. */
const MAX_OPEN_ASKS = 1000;

interface OpenAsk {
  readonly settle: (outcome: PortableOutcome) => void;
  readonly work: (() => unknown) | undefined;
}

/** The context of a call inside a worker. What it does happens on the serving side, which gets a message for each use. */
export class IsolatedContext implements HandlerContext {
  readonly #call: number;
  readonly #post: (message: FromWorker) => void;
  readonly #abort = new AbortController();
  readonly #open = new Map<number, OpenAsk>();
  #asked: ContextUse[] = [];
  #asks = 0;
  #unread = 0;
  /** The newest progress that waits until the notices before it are read. */
  #held: readonly unknown[] | undefined;
  #ended = false;
  readonly client: ContextClient;
  readonly session: HandlerContext["session"];
  readonly http = undefined;
  readonly requestId: CallFacts["requestId"];
  readonly method: CallFacts["method"];
  readonly protocolVersion: CallFacts["protocolVersion"];
  readonly auth: CallFacts["auth"];
  readonly meta: CallFacts["meta"];
  readonly coercions: CallFacts["coercions"];
  readonly trace: CallFacts["trace"];
  readonly data: CallFacts["data"];
  readonly callId: CallFacts["callId"];

  constructor(call: number, facts: CallFacts, post: (message: FromWorker) => void) {
    this.#call = call;
    this.requestId = facts.requestId;
    this.method = facts.method;
    this.protocolVersion = facts.protocolVersion;
    this.auth = facts.auth;
    this.meta = facts.meta;
    this.coercions = facts.coercions;
    this.trace = facts.trace;
    this.data = facts.data;
    this.callId = facts.callId;
    this.#post = post;
    const { clientInfo: info, clientCapabilities: capabilities, can, initialized } = facts;
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
    // As JSON, because that is what the client gets; the rest may not survive the way there.
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
      // Safe: this is what the method of the same name resolves with on the serving side.
      const { action, content } = reply as { action: "accept"; content: unknown };
      return action === "accept" ? { action, content: await read(content, parser) } : { action };
    });
  }

  /** Schemas of libraries are functions, so the client is asked with their JSON Schema, and the answer is parsed here. */
  #elicit<T>(
    name: AskName,
    message: string,
    schema: AnySchema,
    options: QuestionOptions | undefined,
    readReply: (reply: unknown, parser: Parser | undefined) => Promise<T>,
  ): Promise<T> {
    // ContextUse before the first `await`, so that questions asked together stay together.
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
    // Safe, as for the others below: what the method of the same name resolves with on the serving side.
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

  /** The serving side wants the call to end. */
  abort(reason: PortableError): void {
    this.#abort.abort(revivedError(reason));
  }

  answer(ask: number, outcome: PortableOutcome): void {
    const open = this.#open.get(ask);
    this.#open.delete(ask);
    open?.settle(outcome);
  }

  /** Runs the work of a step. */
  async work(ask: number): Promise<void> {
    const { work } = this.#open.get(ask) ?? {};
    if (work === undefined) return;
    this.#post({ type: "worked", call: this.#call, ask, outcome: await outcomeOf(work) });
  }

  /** The notices so far have been read. */
  read(): void {
    this.#unread = 0;
    this.#sendHeld();
  }

  /** The function has settled; what it left running can no longer use the context. */
  end(): void {
    this.#sendAsked();
    this.#sendHeld();
    this.#ended = true;
  }

  #ask(name: AskName, params: readonly unknown[], work?: () => unknown): Promise<unknown> {
    const asked = new Promise((resolve, reject) => {
      if (this.#ended) throw new McpError("cancelled", "the call has ended");
      if (this.#open.size >= MAX_OPEN_ASKS) {
        throw new McpError("limit_exceeded", `a call waits for more than ${MAX_OPEN_ASKS} answers at once`);
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
      this.#open.set(ask, { settle, work });
      if (this.#asked.push(item) === 1) setImmediate(() => this.#sendAsked());
    });
    return neverUnhandled(asked);
  }

  #sendAsked(): void {
    const asked = this.#asked;
    if (asked.length === 0 || this.#ended) return;
    this.#asked = [];
    this.#post({ type: "asked", call: this.#call, asked });
  }

  /** A loop that never pauses must not fill the memory of the serving side: the newest progress waits, logs are dropped. */
  #notice(name: NoticeName, params: readonly unknown[]): void {
    if (this.#ended) return;
    const most = name === "progress" || name === "log" ? MAX_UNREAD_NOTICES : 2 * MAX_UNREAD_NOTICES;
    if (this.#unread < most) {
      this.#unread++;
      this.#post({ type: "notice", call: this.#call, name, params });
    } else if (name === "progress") this.#held = params;
  }

  #sendHeld(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined && !this.#ended) {
      this.#post({ type: "notice", call: this.#call, name: "progress", params: held });
    }
  }
}

/** Rejects where `start` throws. */
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
