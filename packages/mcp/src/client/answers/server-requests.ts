import type { Question } from "../../era/era.js";
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND } from "../../jsonrpc/error.js";
import { errorText, type Id, type RequestMessage, resultText } from "../../jsonrpc/message.js";
import { onAbort } from "../../platform/on-abort.js";
import { McpError } from "../../protocol/error.js";
import type { ClientConnection } from "../connection/connection.js";
import type { CurrentConnection } from "../connection/current-connection.js";
import type { RequestObservers } from "../connection/request-observers.js";
import type { ClientExtensions } from "../contract/extension.js";
import type { ClientOptions, QuestionContext } from "../contract/options.js";
import type { Answerer } from "./answerer.js";

/**
 * Maximum number of requests of the server that are processed at the same time. Further requests get an error, because
 * a user could not answer more at once.
 */
const MAX_OPEN_REQUESTS = 100;

/** A request of the server that is not answered yet. */
interface OpenQuestion {
  readonly unwanted: AbortController;
  /** True if the server withdrew the request. */
  cancelled: boolean;
  /** Resumes the idle deadlines of calls in flight. */
  release(): void;
}

/** Configuration of `ServerRequests`. */
interface ServerRequestsConfig {
  readonly connection: ClientConnection;
  readonly answerer: Answerer;
  readonly extensions: ClientExtensions;
  /** The deadlines of the calls in flight. */
  readonly deadlines: { hold(): () => void };
  readonly observers: RequestObservers | undefined;
  fault(error: Error): void;
  warn(message: string): void;
}

/** Answers the requests that a server sends, in the eras that have them. */
export class ServerRequests {
  readonly #config: ServerRequestsConfig;
  /** Errors already reported, so that each is warned about once. */
  readonly #reported = new WeakSet<McpError>();
  /**
   * Requests without an answer. A withdrawn request stays in this map until its handler ends, so that no server can
   * start more handlers than the limit.
   */
  readonly #asked = new Map<Id, OpenQuestion>();

  constructor(config: ServerRequestsConfig) {
    this.#config = config;
    const { handlers } = config.connection.options;
    if (handlers !== undefined) checkHandlers(handlers);
  }

  /**
   * Returns the text of the answer, or an empty string if no answer may be sent. Answers only `ping` before the
   * handshake is done, because the server is still unknown. Never rejects.
   */
  async answer(message: RequestMessage, about?: Id): Promise<string> {
    const { id, method } = message;
    const { connection, deadlines, observers } = this.#config;
    const { asking } = connection;
    if (asking?.serverMayAsk === false) {
      this.#config.fault(
        new McpError("invalid_response", `the server sent the request ${method}, which this revision forbids`, {
          fix: "Report it to the author of the server.",
        }),
      );
      return "";
    }
    if (method === "ping") return resultText(id, "{}");
    if (asking === undefined)
      return errorText(id, INVALID_REQUEST, "only `ping` is answered before the handshake is done");
    if (this.#asked.has(id)) return errorText(id, INVALID_REQUEST, "a request with this id is still in flight");
    if (this.#asked.size >= MAX_OPEN_REQUESTS) {
      return errorText(id, INTERNAL_ERROR, `more than ${MAX_OPEN_REQUESTS} requests wait for an answer`);
    }
    // The server's silence while it waits for this user must not count as a timeout.
    const asked: OpenQuestion = { unwanted: new AbortController(), cancelled: false, release: deadlines.hold() };
    this.#asked.set(id, asked);
    try {
      if (observers === undefined) return await this.#respond(message, asking, asked, about);
      return await observers.answer(message, asking, () => this.#respond(message, asking, asked, about));
    } finally {
      asked.release();
      this.#asked.delete(id);
    }
  }

  async #respond(
    message: RequestMessage,
    asking: CurrentConnection,
    asked: OpenQuestion,
    about: Id | undefined,
  ): Promise<string> {
    const { answerer, extensions, connection } = this.#config;
    const { unwanted } = asked;
    const { id, method, params } = message;
    const context: QuestionContext = { signal: unwanted.signal, server: asking.asker };
    if (method !== "elicitation/create" && method !== "sampling/createMessage" && method !== "roots/list") {
      const extended = asking.era.has(method) ? extensions.handler(method) : undefined;
      const handler = extended ?? ownMember(connection.options.handlers, method);
      if (handler === undefined) {
        return errorText(id, METHOD_NOT_FOUND, `this client does not know the method "${method}"`);
      }
      const run = async () => (await handler(params ?? {}, context)) ?? {};
      return this.#answered(message, asked, () => answerer.runHandler(`handlers["${method}"]`, unwanted, run));
    }
    const question: Question = params === undefined ? { method } : { method, params };
    try {
      answerer.check(question);
    } catch (error) {
      const { kind, code, message: text } = McpError.from(error);
      return errorText(id, kind === "capability_missing" ? undeclaredCode(method) : code, text);
    }
    const answer = async (signal?: AbortSignal) => {
      const ending = signal === undefined ? unwanted : following(signal);
      try {
        return asking.era.answer(method, await answerer.answer(question, asking, ending, about));
      } catch (error) {
        throw this.#report(method, error);
      }
    };
    const { answering } = extensions;
    const run = answering === undefined ? answer : () => answering(question, answer, context);
    return this.#answered(message, asked, run);
  }

  /** Returns the text of an answer or error, or an empty string if the server withdrew the request meanwhile. */
  async #answered({ id, method }: RequestMessage, asked: OpenQuestion, run: () => Promise<unknown>): Promise<string> {
    let text: string;
    try {
      text = resultText(id, JSON.stringify(await run()));
    } catch (error) {
      const failure = this.#report(method, error);
      text = errorText(id, failure.code, publicText(failure));
    }
    return asked.cancelled ? "" : text;
  }

  /** Warns the application once about an error, unless it is a decision of the user. */
  #report(method: string, error: unknown): McpError {
    const failure = McpError.from(error);
    if (DECISIONS.has(failure.kind) || this.#reported.has(failure)) return failure;
    this.#reported.add(failure);
    this.#config.warn(`${method} was not answered: ${failure.message}. ${failure.fix}`);
    return failure;
  }

  /** Cancels a request that the server withdrew. */
  cancel(id: unknown): void {
    // Safe: a value of another type finds nothing in the map.
    const asked = this.#asked.get(id as Id);
    if (asked === undefined) return;
    asked.cancelled = true;
    asked.release();
    asked.unwanted.abort(new McpError("cancelled", "the server no longer waits for this answer"));
  }

  /** Cancels all open requests. */
  cancelAll(): void {
    for (const id of this.#asked.keys()) this.cancel(id);
  }
}

/** Returns the text of an error for the server. Hides failures of the application. */
export function publicText({ kind, message }: McpError): string {
  return OWN_FAULTS.has(kind) ? "the application could not answer" : message;
}

/** Decisions of a user, which are not failures. */
const DECISIONS: ReadonlySet<string> = new Set(["declined", "dismissed", "cancelled"]);
/** Failures of the application. Their messages are for the developer of the application only. */
const OWN_FAULTS: ReadonlySet<string> = new Set(["misuse", "internal_error", "invalid_definition"]);

/** Returns a controller that is aborted with the signal, and can be aborted separately. */
function following(signal: AbortSignal): AbortController {
  const controller = new AbortController();
  onAbort(signal, () => controller.abort(signal.reason));
  return controller;
}

/**
 * Returns the error code for an undeclared question: -32602 for elicitation, otherwise "method not found".
 *
 * Spec: Elicitation, "Error Handling", https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling
 */
function undeclaredCode(method: Question["method"]): number {
  return method === "elicitation/create" ? INVALID_PARAMS : METHOD_NOT_FOUND;
}

function ownMember<T>(members: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Methods that `handlers` must not contain, with the fix for each. */
const OWN_OPTIONS: Readonly<Record<string, string>> = {
  "elicitation/create": "Pass `onElicit` instead.",
  "sampling/createMessage": "Pass `onSample` instead.",
  "roots/list": "Pass `roots` instead.",
  ping: "Leave it out; the client answers it.",
};

function checkHandlers(handlers: NonNullable<ClientOptions["handlers"]>): void {
  for (const [method, handler] of Object.entries(handlers)) {
    const own = ownMember(OWN_OPTIONS, method);
    if (own === undefined && typeof handler === "function") continue;
    const what = own === undefined ? "is not a function" : "cannot be replaced";
    throw new McpError("invalid_definition", `the handler of "${method}" ${what}`, {
      fix: own ?? "Pass one function for each method.",
    });
  }
}
