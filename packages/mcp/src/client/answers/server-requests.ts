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

/** Requests of the server that are answered at the same time; the user could not follow more. */
const MAX_ASKED = 100;

/** A request of the server that has no answer yet. */
interface OpenQuestion {
  readonly unwanted: AbortController;
  /** The server took it back. */
  cancelled: boolean;
  /** Lets the silence of calls in flight count again. */
  release(): void;
}

interface ServerRequestParts {
  readonly connection: ClientConnection;
  readonly answerer: Answerer;
  readonly extensions: ClientExtensions;
  /** The deadlines of the calls in flight. */
  readonly deadlines: { hold(): () => void };
  readonly observers: RequestObservers | undefined;
  fault(error: Error): void;
  warn(message: string): void;
}

/** Answers the requests that a server sends, in the era that has them. */
export class ServerRequests {
  readonly #parts: ServerRequestParts;
  /** Errors that were reported, so that each is warned about once. */
  readonly #reported = new WeakSet<McpError>();
  /** One that was taken back stays until its handler ends, so that no server can start more handlers than the limit. */
  readonly #asked = new Map<Id, OpenQuestion>();

  constructor(parts: ServerRequestParts) {
    this.#parts = parts;
    const { handlers } = parts.connection.options;
    if (handlers !== undefined) checkHandlers(handlers);
  }

  /**
   * The text of the answer; an empty one where the protocol allows none. Before the handshake only `ping` is answered: nobody
   * knows yet who asks. Never rejects.
   */
  async answer(message: RequestMessage, about?: Id): Promise<string> {
    const { id, method } = message;
    const { connection, deadlines, observers } = this.#parts;
    const { asking } = connection;
    if (asking?.serverMayAsk === false) {
      this.#parts.fault(
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
    if (this.#asked.size >= MAX_ASKED) {
      return errorText(id, INTERNAL_ERROR, `more than ${MAX_ASKED} requests wait for an answer`);
    }
    // While the server waits for this user, its silence must not count as a timeout.
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
    const { answerer, extensions, connection } = this.#parts;
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
      return this.#answered(message, asked, () => answerer.handled(`handlers["${method}"]`, unwanted, run));
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

  /** The text of an answer or of the error in its place; an empty one if the server took the request back meanwhile. */
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

  /** Warns the application once of an error that it ended with. */
  #report(method: string, error: unknown): McpError {
    const failure = McpError.from(error);
    if (DECISIONS.has(failure.kind) || this.#reported.has(failure)) return failure;
    this.#reported.add(failure);
    this.#parts.warn(`${method} was not answered: ${failure.message}. ${failure.fix}`);
    return failure;
  }

  /** Withdraws a request that the server no longer wants answered. */
  cancel(id: unknown): void {
    // A foreign value finds nothing in the map.
    const asked = this.#asked.get(id as Id);
    if (asked === undefined) return;
    asked.cancelled = true;
    asked.release();
    asked.unwanted.abort(new McpError("cancelled", "the server no longer waits for this answer"));
  }

  /** Aborts all answers in progress. */
  cancelAll(): void {
    for (const id of this.#asked.keys()) this.cancel(id);
  }
}

/** The text of an error that the server gets. */
export function publicText({ kind, message }: McpError): string {
  return OWN_FAULTS.has(kind) ? "the application could not answer" : message;
}

/** Decisions of a user, which are not failures. */
const DECISIONS: ReadonlySet<string> = new Set(["declined", "dismissed", "cancelled"]);
/** Failures of the application, whose texts are for its developer. */
const OWN_FAULTS: ReadonlySet<string> = new Set(["misuse", "internal_error", "invalid_definition"]);

/** A controller that is aborted with a signal, and can be aborted without it. */
function following(signal: AbortSignal): AbortController {
  const controller = new AbortController();
  onAbort(signal, () => controller.abort(signal.reason));
  return controller;
}

/**
 * An undeclared mode of elicitation is answered with -32602; for the rest this client has no such method.
 *
 * Spec: Elicitation, "Error Handling", https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling
 */
function undeclaredCode(method: Question["method"]): number {
  return method === "elicitation/create" ? INVALID_PARAMS : METHOD_NOT_FOUND;
}

function ownMember<T>(members: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Requests that are not for `handlers`, and what to do instead. */
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
