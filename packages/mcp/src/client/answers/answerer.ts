import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Question } from "../../era/era.js";
import { INVALID_PARAMS, METHOD_NOT_FOUND } from "../../jsonrpc/error.js";
import { type Id, isObject, type RequestMessage } from "../../jsonrpc/message.js";
import { errorText, resultText } from "../../jsonrpc/message-text.js";
import type { Platform } from "../../platform/platform.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { declaredExtensions } from "../../protocol/extension.js";
import type { Root } from "../../protocol/features/roots.js";
import { CORE_TABLE } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions.js";
import type { CurrentConnection } from "../connection/current-connection.js";
import type { ClientExtensions } from "../contract/extension.js";
import { type ClientOptions, DEFAULT_TIMEOUTS, type QuestionContext } from "../contract/options.js";
import { checkElicitation, checkSampling, elicitResult } from "./check-questions.js";

/** Answers the server's questions with what the application gave to `connect`, the same in both eras. */
export class Answerer {
  readonly #options: ClientOptions;
  readonly #platform: Platform;
  readonly #warn: (message: string) => void;
  readonly #answerMs: number;
  readonly #extensions: ClientExtensions;
  readonly #forwarder: QuestionForwarder | undefined;
  /** Errors that the application knows of: one that is kept is sent as often as the server asks for it. */
  readonly #told = new WeakSet<McpError>();
  #roots: ClientOptions["roots"];

  constructor(
    options: ClientOptions,
    platform: Platform,
    extensions: ClientExtensions,
    warn: (message: string) => void,
    forwarder?: QuestionForwarder,
  ) {
    this.#options = options;
    this.#forwarder = forwarder;
    this.#extensions = extensions;
    this.#platform = platform;
    this.#warn = warn;
    this.#answerMs = options.timeouts?.answerMs ?? DEFAULT_TIMEOUTS.answerMs;
    this.#roots = options.roots;
    if (Array.isArray(options.roots)) checkRoots(options.roots);
    if (options.handlers !== undefined) checkHandlers(options.handlers);
  }

  /** What the server may ask for. */
  capabilities(revision: Revision): ClientCapabilities {
    const { onElicit, onSample, roots, elicitUrls = true, sampleTools = true, extensions = [] } = this.#options;
    const declared = declaredExtensions(extensions, revision);
    return {
      ...this.#extensions.capabilities(revision),
      ...this.#forwarder?.capabilities(revision),
      ...(onElicit === undefined ? {} : { elicitation: elicitUrls ? { form: {}, url: {} } : { form: {} } }),
      ...(onSample === undefined ? {} : { sampling: sampleTools ? { tools: {} } : {} }),
      ...(roots === undefined ? {} : { roots: announcesRoots(revision) ? { listChanged: true } : {} }),
      ...this.#options.capabilities,
      ...(declared === undefined ? {} : { extensions: declared }),
    };
  }

  /** Replaces the roots. Throws when `connect` was given none, as the server was told so. */
  setRoots(roots: readonly Root[]): void {
    if (this.#options.roots === undefined) throw cannot("roots", "roots");
    this.#roots = checkRoots(roots);
  }

  /** The roots as they are now. */
  async roots(): Promise<readonly Root[]> {
    const roots = this.#roots;
    if (roots === undefined) throw cannot("roots", "roots");
    return typeof roots === "function" ? checkRoots(await roots()) : roots;
  }

  /** Whether `connect` was given what answers such questions. */
  canAnswer(method: Question["method"]): boolean {
    const { onElicit, onSample, roots } = this.#options;
    if (this.#forwarder !== undefined) return true;
    return (
      { "elicitation/create": onElicit, "sampling/createMessage": onSample, "roots/list": roots }[method] !== undefined
    );
  }

  /** Throws `capability_missing` for a question that was not declared, and `invalid_params` for a malformed one. */
  check(question: Question): void {
    const { onElicit, elicitUrls = true, onSample, sampleTools = true, roots } = this.#options;
    const forwards = this.#forwarder !== undefined;
    const params = question.params ?? {};
    switch (question.method) {
      case "elicitation/create":
        if (!forwards && onElicit === undefined) throw cannot("elicitation", "onElicit");
        if (!forwards && params["mode"] === "url" && !elicitUrls) throw cannot("elicitation.url", "elicitUrls: true");
        checkElicitation(params);
        return;
      case "sampling/createMessage":
        if (!forwards && onSample === undefined) throw cannot("sampling", "onSample");
        checkSampling(params, forwards || sampleTools);
        return;
      case "roots/list":
        if (!forwards && roots === undefined) throw cannot("roots", "roots");
    }
  }

  /** The bare result for a question that `check` admits. Throws an `McpError` when there is none; `unwanted` ends the wait. */
  async answer(
    question: Question,
    { asker }: Pick<CurrentConnection, "asker">,
    unwanted: AbortController,
    about?: Id,
  ): Promise<object> {
    const forwarder = this.#forwarder;
    if (forwarder !== undefined)
      return this.#handled("the forwarder", unwanted, () => forwarder.answer(question, about, unwanted.signal));
    const { onElicit, onSample } = this.#options;
    const context: QuestionContext = { signal: unwanted.signal, server: asker };
    // The casts are safe: `check` throws unless the handler exists and the parameters are well formed.
    const params = (question.params ?? {}) as never;
    switch (question.method) {
      case "elicitation/create": {
        const answer = await this.#handled("onElicit", unwanted, () => onElicit?.(params, context));
        return elicitResult(params, answer);
      }
      case "sampling/createMessage":
        return this.#handled("onSample", unwanted, () => onSample?.(params, context));
      case "roots/list":
        return this.#handled("roots", unwanted, async () => ({ roots: await this.roots() }));
    }
  }

  /** The whole text of the answer to a request of the server. */
  async respond(
    message: RequestMessage,
    asking: CurrentConnection,
    unwanted: AbortController,
    about?: Id,
  ): Promise<string> {
    const { id, method, params } = message;
    if (method !== "elicitation/create" && method !== "sampling/createMessage" && method !== "roots/list") {
      const extended = asking.era.has(method) ? this.#extensions.handler(method) : undefined;
      const handler = extended ?? ownMember(this.#options.handlers, method);
      if (handler === undefined) {
        return errorText(id, METHOD_NOT_FOUND, `this client does not know the method "${method}"`);
      }
      const context: QuestionContext = { signal: unwanted.signal, server: asking.asker };
      const run = async () => (await handler(params ?? {}, context)) ?? {};
      return this.#answered(message, () => this.#handled(`handlers["${method}"]`, unwanted, run));
    }
    const question: Question = params === undefined ? { method } : { method, params };
    try {
      this.check(question);
    } catch (error) {
      const { kind, code, message: text } = McpError.from(error);
      return errorText(id, kind === "capability_missing" ? undeclaredCode(method) : code, text);
    }
    const answer = async (signal?: AbortSignal) => {
      const ending = signal === undefined ? unwanted : following(signal);
      try {
        return asking.era.answer(method, await this.answer(question, asking, ending, about));
      } catch (error) {
        throw this.#tell(method, error);
      }
    };
    const { answering } = this.#extensions;
    if (answering === undefined) return this.#answered(message, answer);
    const context: QuestionContext = { signal: unwanted.signal, server: asking.asker };
    return this.#answered(message, () => answering(question, answer, context));
  }

  /** The text of an answer, or of the error that the application ended with. */
  async #answered({ id, method }: RequestMessage, answer: () => Promise<unknown>): Promise<string> {
    try {
      return resultText(id, JSON.stringify(await answer()));
    } catch (error) {
      const failure = this.#tell(method, error);
      return errorText(id, failure.code, publicText(failure));
    }
  }

  /** Warns the application once of what it could not answer. */
  #tell(method: string, error: unknown): McpError {
    const failure = McpError.from(error);
    if (DECISIONS.has(failure.kind) || this.#told.has(failure)) return failure;
    this.#told.add(failure);
    this.#warn(`${method} was not answered: ${failure.message}. ${failure.fix}`);
    return failure;
  }

  /** What the application gives within `timeouts.answerMs`; what comes later, or is no object, is an error. */
  #handled(name: string, unwanted: AbortController, run: () => unknown): Promise<object> {
    return new Promise((resolve, reject) => {
      const ms = this.#answerMs;
      const timer = this.#platform.timer(ms, () => {
        const late = new McpError("timeout", `\`${name}\` gave no answer within ${ms} ms`, {
          data: { deadline: "answer", ms },
          fix: `Raise \`timeouts.answerMs\` of \`connect\`, or let \`${name}\` end when its signal is aborted.`,
        });
        reject(late);
        unwanted.abort(late);
      });
      // Nobody waits for the answer any more, or the client is closed.
      unwanted.signal.addEventListener("abort", () => timer.cancel(), { once: true });
      const fix = `Correct \`${name}\` of \`connect\`.`;
      const failed = (error: unknown) =>
        McpError.is(error)
          ? error
          : new McpError("misuse", `\`${name}\` failed: ${thrownMessage(error)}`, { cause: error, fix });
      const settled = (answer: unknown) => {
        if (isObject(answer)) resolve(answer);
        else reject(new McpError("misuse", `\`${name}\` returned ${String(answer)}, not an object`, { fix }));
      };
      Promise.resolve()
        .then(run)
        .then(settled, (error: unknown) => reject(failed(error)))
        .finally(() => timer.cancel());
    });
  }
}

/** A controller that is aborted with a signal, and can be aborted without it. */
function following(signal: AbortSignal): AbortController {
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
  return controller;
}

/** What the server is told of an error. */
export function publicText({ kind, message }: McpError): string {
  return OWN_FAULTS.has(kind) ? "the application could not answer" : message;
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

/** What a user decided, which is no failure. */
const DECISIONS: ReadonlySet<string> = new Set(["declined", "dismissed", "cancelled"]);
/** Failures of the application, whose texts are for its developer. */
const OWN_FAULTS: ReadonlySet<string> = new Set(["misuse", "internal_error", "invalid_definition"]);

/**
 * An undeclared mode of elicitation is answered with -32602; for the rest this client has no such method.
 *
 * Spec: Elicitation, "Error Handling", https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling
 */
function undeclaredCode(method: Question["method"]): number {
  return method === "elicitation/create" ? INVALID_PARAMS : METHOD_NOT_FOUND;
}

function cannot(capability: string, option: string): McpError {
  return new McpError("capability_missing", `this client does not support "${capability}"`, {
    fix: `Give \`${option}\` to \`connect\`.`,
  });
}

/**
 * Only revisions with sessions have a notification for changed roots.
 *
 * Spec: Roots, "Root List Changes", https://modelcontextprotocol.io/specification/2025-11-25/client/roots#root-list-changes
 */
function announcesRoots(revision: Revision): boolean {
  return CORE_TABLE.at("notifications/roots/list_changed", revision) !== undefined;
}

/**
 * Returns the roots. Throws when one of them is not a `file://` URI.
 *
 * Spec: Roots, "Root", https://modelcontextprotocol.io/specification/2026-07-28/client/roots#root
 */
function checkRoots(roots: readonly Root[]): readonly Root[] {
  for (const { uri } of roots) {
    if (typeof uri === "string" && uri.startsWith("file://") && URL.canParse(uri)) continue;
    throw new McpError("invalid_definition", `the root ${JSON.stringify(uri)} is not a file:// URI`, {
      fix: "Write roots as absolute `file://` URIs.",
    });
  }
  return roots;
}

/** Answers a server's questions in place of the application, for a client that passes calls of others on. */
export interface QuestionForwarder {
  /** What the server may ask for, beside extensions. */
  capabilities(revision: Revision): ClientCapabilities;
  /**
   * The bare result for a well-formed question. `about` is the request that it belongs to, if the transport knows. Rejects
   * with an `McpError` when there is no answer; `signal` is aborted when the server no longer wants one.
   */
  answer(question: Question, about: Id | undefined, signal: AbortSignal): Promise<object>;
}
