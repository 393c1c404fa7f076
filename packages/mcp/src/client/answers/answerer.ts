import { thrownMessage } from "../../encoding/thrown-message.js";
import { isWebAddress } from "../../encoding/web-address.js";
import type { Question } from "../../era/era.js";
import { type Id, isObject, type Params } from "../../jsonrpc/message.js";
import { onAbort } from "../../platform/on-abort.js";
import type { Platform } from "../../platform/platform.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { declaredExtensions } from "../../protocol/extension.js";
import {
  type ElicitRequestParams,
  type ElicitResult,
  type ElicitValue,
  isElicitValue,
} from "../../protocol/features/elicitation.js";
import type { Root } from "../../protocol/features/roots.js";
import { CORE_TABLE } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions.js";
import { standardFormats } from "../../schema/json-schema/formats.js";
import type { JsonSchemaObject } from "../../schema/json-schema/json-schema.js";
import { SchemaError } from "../../schema/json-schema/schema-error.js";
import { compileValidator } from "../../schema/json-schema/validate.js";
import type { CurrentConnection } from "../connection/current-connection.js";
import type { ClientExtensions } from "../contract/extension.js";
import { type ClientOptions, DEFAULT_TIMEOUTS, type QuestionContext } from "../contract/options.js";

/** Answers a server's questions in place of the application, for a client that forwards the calls of other clients. */
export interface QuestionForwarder {
  /** The capabilities to declare, in addition to those of extensions. */
  capabilities(revision: Revision): ClientCapabilities;
  /**
   * Returns the bare result for a well-formed question. `about` is the related request, if the transport knows it.
   * Rejects with an `McpError` if there is no answer. `signal` is aborted when the server no longer wants an answer.
   */
  answer(question: Question, about: Id | undefined, signal: AbortSignal): Promise<object>;
}

/** Answers the server's questions through the application's options, in all eras. */
export class Answerer {
  readonly #options: ClientOptions;
  readonly #platform: Platform;
  readonly #answerMs: number;
  readonly #extensions: ClientExtensions;
  readonly #forwarder: QuestionForwarder | undefined;
  #roots: ClientOptions["roots"];

  constructor(options: ClientOptions, platform: Platform, extensions: ClientExtensions, forwarder?: QuestionForwarder) {
    this.#options = options;
    this.#forwarder = forwarder;
    this.#extensions = extensions;
    this.#platform = platform;
    this.#answerMs = options.timeouts?.answerMs ?? DEFAULT_TIMEOUTS.answerMs;
    this.#roots = options.roots;
    if (Array.isArray(options.roots)) checkRoots(options.roots);
  }

  /** The capabilities of this client in a revision. */
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

  /** Replaces the roots. Throws if `connect` got no `roots`, because the capability was not declared. */
  setRoots(roots: readonly Root[]): void {
    if (this.#options.roots === undefined) throw unsupported("roots", "roots");
    this.#roots = checkRoots(roots);
  }

  /** Returns the current roots. */
  async roots(): Promise<readonly Root[]> {
    const roots = this.#roots;
    if (roots === undefined) throw unsupported("roots", "roots");
    return typeof roots === "function" ? checkRoots(await roots()) : roots;
  }

  /** True if `connect` got an option that answers questions of this method, or if a forwarder answers them. */
  canAnswer(method: Question["method"]): boolean {
    const { onElicit, onSample, roots } = this.#options;
    if (this.#forwarder !== undefined) return true;
    return (
      { "elicitation/create": onElicit, "sampling/createMessage": onSample, "roots/list": roots }[method] !== undefined
    );
  }

  /** Throws `capability_missing` for an undeclared question, and `invalid_params` for a malformed one. */
  check(question: Question): void {
    const { onElicit, elicitUrls = true, onSample, sampleTools = true, roots } = this.#options;
    const forwards = this.#forwarder !== undefined;
    const params = question.params ?? {};
    switch (question.method) {
      case "elicitation/create":
        if (!forwards && onElicit === undefined) throw unsupported("elicitation", "onElicit");
        if (!forwards && params["mode"] === "url" && !elicitUrls)
          throw unsupported("elicitation.url", "elicitUrls: true");
        checkElicitation(params);
        return;
      case "sampling/createMessage":
        if (!forwards && onSample === undefined) throw unsupported("sampling", "onSample");
        checkSampling(params, forwards || sampleTools);
        return;
      case "roots/list":
        if (!forwards && roots === undefined) throw unsupported("roots", "roots");
    }
  }

  /**
   * Returns the bare result for a question that passed `check`. Throws an `McpError` if there is no answer. The signal
   * of `unwanted` informs the application when the answer is no longer wanted.
   */
  async answer(
    question: Question,
    { asker }: Pick<CurrentConnection, "asker">,
    unwanted: AbortController,
    about?: Id,
  ): Promise<object> {
    const forwarder = this.#forwarder;
    if (forwarder !== undefined)
      return this.runHandler("the forwarder", unwanted, () => forwarder.answer(question, about, unwanted.signal));
    const { onElicit, onSample } = this.#options;
    const context: QuestionContext = { signal: unwanted.signal, server: asker };
    // The casts are safe: `check` throws unless the handler exists and the parameters are well formed.
    const params = (question.params ?? {}) as never;
    switch (question.method) {
      case "elicitation/create": {
        const answer = await this.runHandler("onElicit", unwanted, () => onElicit?.(params, context));
        return elicitResult(params, answer);
      }
      case "sampling/createMessage":
        return this.runHandler("onSample", unwanted, () => onSample?.(params, context));
      case "roots/list":
        return this.runHandler("roots", unwanted, async () => ({ roots: await this.roots() }));
    }
  }

  /**
   * Returns the result of `run`. After `timeouts.answerMs`, rejects and aborts `unwanted`. Also rejects for a result
   * that is not an object. If the caller aborts `unwanted`, waits for `run` without a time limit.
   */
  runHandler(name: string, unwanted: AbortController, run: () => unknown): Promise<object> {
    return new Promise((resolve, reject) => {
      const ms = this.#answerMs;
      const timer = this.#platform.timer(ms, () => {
        const late = new McpError("timeout", `\`${name}\` did not answer within ${ms} ms`, {
          data: { deadline: "answer", ms },
          fix: `Raise \`timeouts.answerMs\` of \`connect\`, or let \`${name}\` end when its signal is aborted.`,
        });
        reject(late);
        unwanted.abort(late);
      });
      onAbort(unwanted.signal, () => timer.cancel());
      const fix = `Correct \`${name}\` of \`connect\`.`;
      const failed = (error: unknown) => {
        timer.cancel();
        if (McpError.is(error)) reject(error);
        else reject(new McpError("misuse", `\`${name}\` failed: ${thrownMessage(error)}`, { cause: error, fix }));
      };
      const settled = (answer: unknown) => {
        timer.cancel();
        if (isObject(answer)) resolve(answer);
        else reject(new McpError("misuse", `\`${name}\` returned ${String(answer)}, not an object`, { fix }));
      };
      Promise.resolve().then(run).then(settled, failed);
    });
  }
}

function unsupported(capability: string, option: string): McpError {
  return new McpError("capability_missing", `this client does not support "${capability}"`, {
    fix: `Pass \`${option}\` to \`connect\`.`,
  });
}

/**
 * True if the revision has a notification for changed roots. Only revisions with sessions have it.
 *
 * Spec: Roots, "Root List Changes", https://modelcontextprotocol.io/specification/2025-11-25/client/roots#root-list-changes
 */
function announcesRoots(revision: Revision): boolean {
  return CORE_TABLE.at("notifications/roots/list_changed", revision) !== undefined;
}

/**
 * Returns the roots. Throws if one of them is not a `file://` URI.
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

/** Throws `invalid_params` for a malformed question, and for a page whose address may deceive the user. */
function checkElicitation({ mode = "form", message, url, requestedSchema }: Params): void {
  if (typeof message !== "string") throw refuse("the question has no message");
  if (mode === "form") {
    if (!isObject(requestedSchema)) throw refuse("the form has no requestedSchema");
  } else if (mode !== "url") throw refuse(`the mode ${JSON.stringify(mode)} is unknown`);
  else if (!isWebAddress(url))
    throw refuse("the page needs an https address without credentials and hidden characters");
}

function refuse(message: string): McpError {
  return new McpError("invalid_params", message, {
    fix: "Report it to the author of the server; the protocol does not allow this question.",
  });
}

/**
 * Completes the application's answer for the wire: fills in the form's defaults and validates the content. Only an
 * accepted form has content. The answer to a page has only an action, and this function never opens the page.
 *
 * Spec: Elicitation, "Safe URL Handling", https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#safe-url-handling
 */
function elicitResult(question: ElicitRequestParams, answer: object): ElicitResult {
  // An application without types may return anything, so the action is checked.
  const { action, content = {} } = answer as ElicitResult;
  if (action !== "accept" && action !== "decline" && action !== "cancel") {
    throw new McpError("misuse", `\`onElicit\` returned the action ${JSON.stringify(action)}`, {
      fix: "Return `accept`, `decline` or `cancel` from `onElicit`.",
    });
  }
  if (action !== "accept" || question.mode === "url") return { action };
  const schema: unknown = question.requestedSchema;
  // Any object may be a schema; `formIssues` rejects an unusable one.
  const filled = isObject(schema) ? applyDefaults(schema as JsonSchemaObject, content) : { ...content };
  const issues = formIssues(schema, filled);
  // Safe: without issues every value is an `ElicitValue`.
  if (issues.length === 0) return { action, content: filled as Record<string, ElicitValue> };
  throw new McpError("invalid_params", `the answer does not fit the form: ${issues.join("; ")}`, {
    data: { issues },
    fix: "Return content that fits `requestedSchema` from `onElicit`.",
  });
}

/**
 * Returns the reasons why an answer does not fit the schema of a form, one sentence each, or an empty list. A user
 * interface can show them before the answer is sent; `connect` rejects the same answers. Throws `invalid_params` for an
 * unusable schema.
 *
 * @example
 * ```ts
 * import { formIssues } from "@parley/mcp/host";
 *
 * const schema = { type: "object", properties: { age: { type: "integer", minimum: 18 } }, required: ["age"] };
 * const issues = formIssues(schema, { age: 17 });
 * ```
 */
export function formIssues(schema: unknown, content: Readonly<Record<string, unknown>>): string[] {
  const unfit = Object.entries(content).filter(([, value]) => !isElicitValue(value));
  if (unfit.length > 0) return unfit.map(([name]) => `/${name} is not a string, number, boolean or list of strings`);
  try {
    const verdict = compileValidator(schema ?? true, { formats: standardFormats }).validate(content);
    return verdict.valid ? [] : verdict.errors.map(({ path, message }) => `${path} ${message}`.trim());
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw new McpError("invalid_params", `the form cannot be used: ${error.message}`, {
      cause: error,
      fix: "Report it to the author of the server; a form is a flat JSON Schema of primitive values.",
    });
  }
}

/** Returns a copy of an answer, with the form's defaults for missing properties. */
export function applyDefaults(
  schema: JsonSchemaObject,
  content: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const filled: [string, unknown][] = Object.entries(content);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (Object.hasOwn(content, name) || !isObject(property) || property["default"] === undefined) continue;
    filled.push([name, property["default"]]);
  }
  // `fromEntries` defines members, so "__proto__" stays an ordinary member.
  return Object.fromEntries(filled);
}

/** Removes pages with unsafe addresses from an error, because the application may pass them to a browser. */
export function withSafePages(error: McpError): McpError {
  const { kind, message, code, data, remote } = error;
  if (kind !== "url_elicitation_required" || !isObject(data) || !Array.isArray(data["elicitations"])) return error;
  const all: unknown[] = data["elicitations"];
  const elicitations = all.filter((one) => isObject(one) && isWebAddress(one["url"]));
  if (elicitations.length === all.length) return error;
  return new McpError(kind, message, { code, remote, data: { ...data, elicitations } });
}

/** Throws for a sampling request that breaks a rule which the client must enforce. */
export function checkSampling(params: Params, toolsDeclared: boolean): void {
  if (!toolsDeclared && (params["tools"] !== undefined || params["toolChoice"] !== undefined)) {
    throw refuse('the request has tools, but this client did not declare "sampling.tools"');
  }
  if (typeof params["maxTokens"] !== "number") throw refuse("the request has no maxTokens");
  const { messages } = params;
  if (!Array.isArray(messages)) throw refuse("the request has no messages");
  checkToolTurns(messages);
}

/**
 * Throws unless every tool use is answered in the next message, and messages with tool results contain nothing else.
 *
 * Spec: Sampling, "Tool Use and Result Balance", https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#tool-use-and-result-balance
 */
function checkToolTurns(messages: readonly unknown[]): void {
  let open = new Set<unknown>();
  messages.forEach((message, index) => {
    const blocks = blocksOf(message);
    const answers = blocks.filter((block) => block["type"] === "tool_result");
    if (answers.length > 0 && answers.length < blocks.length) {
      throw refuse(`messages[${index}] mixes tool results with other content`);
    }
    for (const { toolUseId } of answers) {
      if (!open.delete(toolUseId)) throw refuse(`messages[${index}] answers the unknown tool use ${quoted(toolUseId)}`);
    }
    if (open.size > 0) throw refuse(`messages[${index}] leaves the tool use ${quoted([...open][0])} without a result`);
    open = new Set(blocks.filter((block) => block["type"] === "tool_use").map((block) => block["id"]));
  });
  if (open.size > 0) throw refuse(`the tool use ${quoted([...open][0])} has no result`);
}

function blocksOf(message: unknown): Record<string, unknown>[] {
  const content = isObject(message) ? message["content"] : undefined;
  return (Array.isArray(content) ? content : [content]).filter(isObject);
}

function quoted(id: unknown): string {
  return JSON.stringify(id) ?? "without an id";
}
