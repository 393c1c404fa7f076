import type { ClientEra, Question } from "../../era/era.js";
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from "../../jsonrpc/error.js";
import type { RequestMessage } from "../../jsonrpc/message.js";
import { errorText, resultText } from "../../jsonrpc/message-text.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { Root } from "../../protocol/features/roots.js";
import { CORE_TABLE } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions.js";
import type { ClientOptions, QuestionContext } from "../options.js";
import { answerElicitation } from "./elicitation.js";
import { checkSampling } from "./sampling.js";

/** Answers the server's questions with what the application gave to `connect`, the same in both eras. */
export class Answerer {
  readonly #options: ClientOptions;
  #roots: ClientOptions["roots"];

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#roots = options.roots;
    if (Array.isArray(options.roots)) checkRoots(options.roots);
  }

  /** What the server may ask for. */
  capabilities(revision: Revision): ClientCapabilities {
    const { onElicit, onSample, roots, elicitUrls = true, sampleTools = true, extensions = [] } = this.#options;
    return {
      ...(onElicit === undefined ? {} : { elicitation: elicitUrls ? { form: {}, url: {} } : { form: {} } }),
      ...(onSample === undefined ? {} : { sampling: sampleTools ? { tools: {} } : {} }),
      ...(roots === undefined ? {} : { roots: announcesRoots(revision) ? { listChanged: true } : {} }),
      ...(extensions.length === 0
        ? {}
        : { extensions: Object.fromEntries(extensions.map(({ id, settings }) => [id, settings])) }),
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

  /** Throws `capability_missing` for a question that was not declared, and `invalid_params` for a malformed one. */
  check(question: Question): void {
    const { onElicit, elicitUrls = true, onSample, sampleTools = true, roots } = this.#options;
    const params = question.params ?? {};
    switch (question.method) {
      case "elicitation/create":
        if (onElicit === undefined) throw cannot("elicitation", "onElicit");
        if (params["mode"] === "url" && !elicitUrls) throw cannot("elicitation.url", "elicitUrls: true");
        if (typeof params["message"] !== "string") throw malformed("the question has no message");
        return;
      case "sampling/createMessage":
        if (onSample === undefined) throw cannot("sampling", "onSample");
        checkSampling(params, sampleTools);
        return;
      case "roots/list":
        if (roots === undefined) throw cannot("roots", "roots");
    }
  }

  /** The bare result for one question. Throws an `McpError` when there is none. */
  async answer(question: Question, context: QuestionContext): Promise<object> {
    this.check(question);
    const { onElicit, onSample } = this.#options;
    // The casts are safe: `check` throws unless the handler exists and the parameters are well formed.
    const params = (question.params ?? {}) as never;
    switch (question.method) {
      case "elicitation/create":
        return answerElicitation(params, onElicit as NonNullable<typeof onElicit>, context);
      case "sampling/createMessage":
        return (onSample as NonNullable<typeof onSample>)(params, context);
      case "roots/list":
        return { roots: await this.roots() };
    }
  }

  /** The whole text of the answer to a request of the server; `era` is undefined during the first handshake. */
  async respond(message: RequestMessage, context: QuestionContext, era: ClientEra | undefined): Promise<string> {
    const { id, method, params } = message;
    if (method === "ping") return resultText(id, "{}");
    if (method !== "elicitation/create" && method !== "sampling/createMessage" && method !== "roots/list") {
      return errorText(id, METHOD_NOT_FOUND, `this client does not know the method "${method}"`);
    }
    try {
      const question: Question = params === undefined ? { method } : { method, params };
      const answer = await this.answer(question, context);
      return resultText(id, JSON.stringify(era === undefined ? answer : era.answer(method, answer)));
    } catch (error) {
      const { kind, code, message: text } = McpError.from(error);
      if (kind === "capability_missing") return errorText(id, undeclaredCode(method), text);
      return errorText(id, kind === "internal_error" ? INTERNAL_ERROR : code, text);
    }
  }
}

/**
 * An undeclared mode of elicitation is answered with -32602; for the rest this client has no such method.
 *
 * Spec: Elicitation, "Error Handling", https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling
 */
function undeclaredCode(method: Question["method"]): number {
  return method === "elicitation/create" ? malformed("").code : METHOD_NOT_FOUND;
}

function malformed(message: string): McpError {
  return new McpError("invalid_params", message);
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
