import type { ClientEra, Question } from "../../era/era.js";
import type { NotificationMiddleware } from "../../era/notification-middleware.js";
import { isObject, type Params } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import type { ClientCapabilities, ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { Tool } from "../../protocol/features/tools.js";
import type { Revision } from "../../protocol/revisions.js";
import type { CallOptions, QuestionContext, ServerRequestHandler } from "./options.js";

/** The interface through which an extension uses its client. */
export interface ExtendedClient {
  /** The runtime: clock, timers, random values. */
  readonly platform: Platform;
  /** Aborted when the client is closed. */
  readonly closing: AbortSignal;
  /** Resolves when the connection is ready. */
  ready(): Promise<void>;
  /** The protocol era of the connection. Throws before the first handshake. */
  readonly era: ClientEra;
  /** The capabilities that the server declared. Throws before the first handshake. */
  readonly serverCapabilities: ServerCapabilities;
  /** Sends a request through the client's middleware and returns its complete result. */
  request(method: string, params?: Params, options?: CallOptions): Promise<Record<string, unknown>>;
  /** Sends a notification. */
  notify(method: string, params?: Params): Promise<void>;
  /** Adds a listener for a notification method. Returns a function that removes it. */
  on(method: string, listener: (params: Params) => void): () => void;
  /** Answers a question of the server through the application's options. Throws if no option answers it. */
  answer(question: Question, signal?: AbortSignal): Promise<object>;
  /** True if the application passed an option to `connect` that answers such questions. */
  canAnswer(method: Question["method"]): boolean;
  /** Returns the server's definition of a tool. Lists the tools if they were not listed yet. */
  tool(name: string): Promise<Tool | undefined>;
  /** Reports a warning to the application. */
  warn(message: string): void;
}

/** A call that ended with a result type of an extension. */
export interface ExtendedOutcome {
  /** The method of the call. */
  readonly method: string;
  /** The parameters of the call. */
  readonly params: Params | undefined;
  /** The value of `resultType` in the result. */
  readonly resultType: string;
  /** The result as the server sent it. */
  readonly result: Record<string, unknown>;
  /** The options of the call. */
  readonly options: CallOptions;
  /**
   * Aborted when the caller cancels or a deadline of the call passes. Already aborted if that happened before the
   * result arrived.
   */
  readonly signal: AbortSignal;
  /** Removes the total deadline of the call, unless the caller set one for this call. */
  liftDeadline(): void;
}

/** Changes the parameters of a request before it is sent. */
export type ChangeParams = (params: Params | undefined, options: CallOptions) => Promise<Params | undefined>;

/** The parts that an extension adds to one client. All members are optional. */
export interface ConnectedExtension<F> {
  /** The value that `client.extension` returns. */
  readonly feature?: F;
  /** Capabilities to declare in addition to `extensions[id]`, which the client always declares. */
  capabilities?(revision: Revision): ClientCapabilities;
  /** Changes the parameters of requests before they are sent, by method. */
  readonly outgoing?: Readonly<Record<string, ChangeParams>>;
  /**
   * Middleware around every notification, in both directions, outside of `useNotifications`. The first extension is
   * outermost.
   */
  readonly aroundNotifications?: NotificationMiddleware;
  /** Completes calls whose result has a `resultType` of the extension, by that type. Returns the complete result. */
  readonly completes?: Readonly<Record<string, (outcome: ExtendedOutcome) => Promise<Record<string, unknown>>>>;
  /** Answers requests of the server, by method. */
  readonly handlers?: Readonly<Record<string, ServerRequestHandler>>;
  /**
   * Wraps the answers to questions that the server sends as requests. `answer` asks the application. Without a signal,
   * the question is cancelled together with the request. Pass a signal if the answer outlives the request; then only
   * the signal cancels the question.
   */
  answering?(
    question: Question,
    answer: (signal?: AbortSignal) => Promise<object>,
    context: QuestionContext,
  ): Promise<object>;
  /** Called when the client is closed. */
  close?(): void;
}

type AnswerWrapper = ConnectedExtension<unknown>["answering"];

/** The extensions of one client. */
export class ClientExtensions {
  /** Changes the parameters of requests before they are sent, by method. */
  readonly outgoing = new Map<string, ChangeParams>();
  /** Wraps the answers to questions. The first extension is outermost. */
  answering: AnswerWrapper;
  readonly #connected = new Map<string, ConnectedExtension<unknown>>();

  /** Adds an extension. Throws if the client already has it. */
  add(id: string, extension: ConnectedExtension<unknown>): void {
    if (this.#connected.has(id)) {
      throw new McpError("invalid_definition", `the extension ${id} was given twice`, {
        fix: "Pass it once in `extensions` of `connect`.",
      });
    }
    this.#connected.set(id, extension);
    this.answering = around(this.answering, extension.answering);
    for (const [method, change] of Object.entries(extension.outgoing ?? {})) {
      const before = this.outgoing.get(method);
      this.outgoing.set(method, async (params, options) => {
        try {
          return await change(before === undefined ? params : await before(params, options), options);
        } catch (error) {
          throw McpError.from(error);
        }
      });
    }
  }

  /** Returns the feature of an extension. Undefined if the client does not have the extension. */
  feature(id: string): unknown {
    return this.#connected.get(id)?.feature;
  }

  capabilities(revision: Revision): ClientCapabilities {
    const all: ClientCapabilities = {};
    for (const extension of this.#connected.values()) {
      for (const [name, value] of Object.entries(extension.capabilities?.(revision) ?? {})) {
        const known = all[name];
        all[name] = isObject(known) && isObject(value) ? { ...known, ...value } : value;
      }
    }
    return all;
  }

  /** Returns the handler of a request of the server, if an extension has one. */
  handler(method: string): ServerRequestHandler | undefined {
    for (const { handlers = {} } of this.#connected.values())
      if (Object.hasOwn(handlers, method)) return handlers[method];
    return undefined;
  }

  /** Returns the complete result of a call that ended with a result type of an extension. */
  complete(outcome: ExtendedOutcome): Promise<Record<string, unknown>> {
    const { resultType } = outcome;
    for (const { completes = {} } of this.#connected.values()) {
      const complete = Object.hasOwn(completes, resultType) ? completes[resultType] : undefined;
      if (complete !== undefined) return complete(outcome);
    }
    return Promise.resolve(outcome.result);
  }

  /** Closes all extensions. A failure of one does not stop the others. */
  close(warn: (message: string) => void): void {
    for (const [id, { close }] of this.#connected) {
      if (close !== undefined) callHook(warn, `close of the extension ${id}`, () => close());
    }
  }
}

/** Returns the feature of an extension. Throws `misuse` if the client does not have the extension. */
export function extensionFeature(extensions: ClientExtensions, id: string): unknown {
  const feature = extensions.feature(id);
  if (feature !== undefined) return feature;
  throw new McpError("misuse", `this client does not have the extension ${id}`, {
    fix: "Pass it in `extensions` of `connect`.",
  });
}

/** Runs `inner` within `outer`. Either may be undefined. */
function around(outer: AnswerWrapper, inner: AnswerWrapper): AnswerWrapper {
  if (outer === undefined || inner === undefined) return outer ?? inner;
  return (question, answer, context) =>
    outer(
      question,
      (signal) => {
        const within = signal === undefined ? context : { ...context, signal };
        return inner(question, (other = signal) => answer(other), within);
      },
      context,
    );
}
