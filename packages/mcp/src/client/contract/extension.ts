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

/** What a client lets an extension do. */
export interface ExtendedClient {
  readonly platform: Platform;
  /** Aborted when the client is closed. */
  readonly closing: AbortSignal;
  /** Resolves when the connection stands. */
  ready(): Promise<void>;
  /** The era of the connection. Throws before the connection stands. */
  readonly era: ClientEra;
  /** What the server declares. Throws before the connection stands. */
  readonly serverCapabilities: ServerCapabilities;
  /** Sends a request through the client's middleware and gives its complete result. */
  request(method: string, params?: Params, options?: CallOptions): Promise<Record<string, unknown>>;
  notify(method: string, params?: Params): Promise<void>;
  /** Listens to a notification; returns a function that ends it. */
  on(method: string, listener: (params: Params) => void): () => void;
  /** Answers a question of the server with what the application gave to `connect`. Throws when that is not possible. */
  answer(question: Question, signal?: AbortSignal): Promise<object>;
  /** Whether the application gave `connect` what answers such questions. */
  canAnswer(method: Question["method"]): boolean;
  /** The entry of a tool in the server's list; lists the tools if that has not happened yet. */
  tool(name: string): Promise<Tool | undefined>;
  warn(message: string): void;
}

/** A call whose result is in the form of an extension. */
export interface ExtendedOutcome {
  readonly method: string;
  readonly params: Params | undefined;
  /** The value of `resultType`. */
  readonly resultType: string;
  /** The result as the server sent it. */
  readonly result: Record<string, unknown>;
  readonly options: CallOptions;
  /** Aborted when the caller gives up or a deadline of the call passes; before the result arrives, if the two cross. */
  readonly signal: AbortSignal;
  /** Lets the call outlast its total deadline, unless the caller set one for this call. */
  liftDeadline(): void;
}

/** Changes the parameters of a request. */
export type ChangeParams = (params: Params | undefined, options: CallOptions) => Promise<Params | undefined>;

/** What an extension adds to one client. All members are optional. */
export interface ConnectedExtension<F> {
  /** What `client.extension` returns. */
  readonly feature?: F;
  /** Capabilities beside `extensions[id]`, which is declared anyway. */
  capabilities?(revision: Revision): ClientCapabilities;
  /** Changes the parameters of requests before they are sent, by method. */
  readonly outgoing?: Readonly<Record<string, ChangeParams>>;
  /** Runs around every notification, in both directions, outside of `useNotifications`; the first extension is outermost. */
  readonly aroundNotifications?: NotificationMiddleware;
  /** Gives the complete result of a call whose result has a `resultType` of the extension, by that type. */
  readonly completes?: Readonly<Record<string, (outcome: ExtendedOutcome) => Promise<Record<string, unknown>>>>;
  /** Answers requests of the server for its methods. */
  readonly handlers?: Readonly<Record<string, ServerRequestHandler>>;
  /**
   * Runs around the answers to questions of the server that arrive as requests. `answer` asks the application; it follows the
   * request, or the given signal for an answer that outlives it.
   */
  answering?(
    question: Question,
    answer: (signal?: AbortSignal) => Promise<object>,
    context: QuestionContext,
  ): Promise<object>;
  /** Called when the client is closed. */
  close?(): void;
}

type Answering = ConnectedExtension<unknown>["answering"];

/** The extensions of one client. */
export class ClientExtensions {
  /** What changes the parameters of requests before they are sent, by method. */
  readonly outgoing = new Map<string, ChangeParams>();
  /** Runs around the answers to questions: the first extension around the next. */
  answering: Answering;
  readonly #connected = new Map<string, ConnectedExtension<unknown>>();

  /** Throws for an extension that the client has already. */
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

  /** What `client.extension` gives for this id; undefined if the client did not get the extension. */
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

  /** The handler of a request of the server. */
  handler(method: string): ServerRequestHandler | undefined {
    for (const { handlers = {} } of this.#connected.values())
      if (Object.hasOwn(handlers, method)) return handlers[method];
    return undefined;
  }

  /** The complete result of a call whose result is in the form of an extension. */
  complete(outcome: ExtendedOutcome): Promise<Record<string, unknown>> {
    const { resultType } = outcome;
    for (const { completes = {} } of this.#connected.values()) {
      const complete = Object.hasOwn(completes, resultType) ? completes[resultType] : undefined;
      if (complete !== undefined) return complete(outcome);
    }
    return Promise.resolve(outcome.result);
  }

  /** Ends all of them, whatever becomes of single ones. */
  close(warn: (message: string) => void): void {
    for (const [id, { close }] of this.#connected) {
      if (close !== undefined) callHook(warn, `close of the extension ${id}`, () => close());
    }
  }
}

/** What an extension adds to a client. Throws when the client did not get it. */
export function extensionFeature(extensions: ClientExtensions, id: string): unknown {
  const feature = extensions.feature(id);
  if (feature !== undefined) return feature;
  throw new McpError("misuse", `this client was not given the extension ${id}`, {
    fix: "Pass it in `extensions` of `connect`.",
  });
}

/** Runs `inner` within `outer`; either may be missing. */
function around(outer: Answering, inner: Answering): Answering {
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
