import type { Question } from "../era/era.js";
import { errorText, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, resultText } from "../jsonrpc/error.js";
import { isObject, type RequestMessage } from "../jsonrpc/message.js";
import type { ClientCapabilities } from "../protocol/capabilities.js";
import type { ElicitRequestParams, ElicitResult } from "../protocol/elicitation.js";
import { McpError } from "../protocol/error.js";
import type { CreateMessageRequestParams } from "../protocol/sampling.js";
import { compileSchema } from "../schema/validate.js";
import type { ClientOptions, QuestionContext } from "./options.js";

/** Answers the server's questions with what the application gave to `connect`, the same in both eras. */
export class Answerer {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** What the server may ask for. */
  capabilities(): ClientCapabilities {
    const { onElicit, onSample, roots, elicitUrls = true, sampleTools = true, extensions = [] } = this.#options;
    return {
      ...(onElicit === undefined ? {} : { elicitation: elicitUrls ? { form: {}, url: {} } : { form: {} } }),
      ...(onSample === undefined ? {} : { sampling: sampleTools ? { tools: {} } : {} }),
      ...(roots === undefined ? {} : { roots: { listChanged: true } }),
      ...(extensions.length === 0
        ? {}
        : { extensions: Object.fromEntries(extensions.map(({ id, settings }) => [id, settings])) }),
    };
  }

  /** The bare result for one question. Throws an `McpError` when there is none. */
  async answer(question: Question, context: QuestionContext): Promise<object> {
    const params = question.params ?? {};
    switch (question.method) {
      case "elicitation/create":
        // The members are read one by one below and in the application.
        return this.#elicit(params as unknown as ElicitRequestParams, context);
      case "sampling/createMessage":
        if (this.#options.onSample === undefined) throw cannot("sampling", "onSample");
        return this.#options.onSample(params as unknown as CreateMessageRequestParams, context);
      case "roots/list":
        return { roots: await this.#roots() };
    }
  }

  /** The whole text of the answer to a request of the server. */
  async respond(message: RequestMessage, context: QuestionContext): Promise<string> {
    const { id, method, params } = message;
    if (method === "ping") return resultText(id, "{}");
    if (method !== "elicitation/create" && method !== "sampling/createMessage" && method !== "roots/list") {
      return errorText(id, METHOD_NOT_FOUND, `this client does not know the method "${method}"`);
    }
    try {
      const answer = await this.answer(params === undefined ? { method } : { method, params }, context);
      return resultText(id, JSON.stringify(answer));
    } catch (error) {
      const { kind, code, message: text } = McpError.from(error);
      if (kind === "capability_missing")
        return errorText(id, method === "roots/list" ? METHOD_NOT_FOUND : INVALID_PARAMS, text);
      return errorText(id, kind === "internal_error" ? INTERNAL_ERROR : code, text);
    }
  }

  async #elicit(question: ElicitRequestParams, context: QuestionContext): Promise<ElicitResult> {
    const { onElicit, elicitUrls = true } = this.#options;
    if (onElicit === undefined) throw cannot("elicitation", "onElicit");
    const isUrl = question.mode === "url";
    if (isUrl && !elicitUrls) throw cannot("elicitation.url", "elicitUrls");
    const reply = await onElicit(question, context);
    if (reply.action !== "accept" || isUrl) return { action: reply.action };
    const schema = "requestedSchema" in question ? question.requestedSchema : undefined;
    const content = { ...defaultsOf(schema), ...reply.content };
    const checked = compileSchema(schema ?? true).validate(content);
    if (checked.valid) return { action: "accept", content };
    const issues = checked.errors.map(({ path, message }) => `${path} ${message}`).join("; ");
    throw new McpError("invalid_params", `the answer does not fit the form: ${issues}`, {
      fix: "Return content that fits `requestedSchema` from `onElicit`.",
    });
  }

  async #roots(): Promise<readonly object[]> {
    const { roots } = this.#options;
    if (roots === undefined) throw cannot("roots", "roots");
    return typeof roots === "function" ? roots() : roots;
  }
}

/** The values that an untouched form would send. */
function defaultsOf(schema: unknown): Record<string, string | number | boolean | string[]> {
  const properties = isObject(schema) ? schema["properties"] : undefined;
  if (!isObject(properties)) return {};
  const entries = Object.entries(properties).flatMap(([name, field]) =>
    isObject(field) && field["default"] !== undefined ? [[name, field["default"]] as const] : [],
  );
  // A form's default is of the field's own primitive type.
  return Object.fromEntries(entries) as Record<string, string | number | boolean | string[]>;
}

function cannot(capability: string, option: string): McpError {
  return new McpError("capability_missing", `this client does not support "${capability}"`, {
    fix: `Give \`${option}\` to \`connect\`.`,
  });
}
