import type { Params } from "../jsonrpc/message.js";
import { isObject } from "../jsonrpc/message.js";
import { hasCapability } from "../protocol/capabilities.js";
import { McpError } from "../protocol/error.js";
import { type LoggingLevel, passesLevel } from "../protocol/logging.js";
import type { Root } from "../protocol/roots.js";
import type { CreateMessageResult } from "../protocol/sampling.js";
import type { AnySchema, InferOutput } from "../schema/standard.js";
import type { Principal } from "../transport/transport.js";
import type {
  AskingContext,
  ClientFacts,
  ElicitReply,
  HttpContext,
  PreparedQuestion,
  QuestionOptions,
  SampleRequest,
} from "./context.js";
import { readElicitReply, requestedSchema } from "./elicitation.js";
import type { ProgressOptions } from "./progress.js";
import type { Run } from "./run.js";

/** The context of one call. Members are getters on the prototype, so that a call pays only for what its handler uses. */
export class CallContext implements AskingContext {
  readonly #run: Run;
  #data: Record<string, unknown> | undefined;
  #client: ClientFacts | undefined;

  constructor(run: Run) {
    this.#run = run;
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }

  get requestId() {
    return this.#run.call.id;
  }

  get method(): string {
    return this.#run.call.method;
  }

  get protocolVersion(): string {
    return this.#run.call.revision;
  }

  get client(): ClientFacts {
    this.#client ??= clientFacts(this.#run);
    return this.#client;
  }

  get session(): AskingContext["session"] {
    return this.#run.exchange.peer?.session;
  }

  get http(): HttpContext | undefined {
    const { http, pause } = this.#run.exchange;
    if (http === undefined) return undefined;
    return {
      method: http.method,
      path: http.path,
      header: (name) => http.header(name.toLowerCase()),
      headers: () => http.headers(),
      ...(http.remoteAddress === undefined ? {} : { remoteAddress: http.remoteAddress }),
      pause: (retryMs) => {
        pause?.call(this.#run.exchange, retryMs);
        return pause !== undefined;
      },
    };
  }

  get auth(): Principal | undefined {
    return this.#run.exchange.principal ?? this.#run.exchange.peer?.principal;
  }

  get meta(): Readonly<Record<string, unknown>> {
    const meta = this.#run.call.params["_meta"];
    return isObject(meta) ? meta : {};
  }

  get data(): Record<string, unknown> {
    this.#data ??= {};
    return this.#data;
  }

  progress(progress: number, options?: ProgressOptions): void {
    this.#run.progress.report(progress, options);
  }

  log(level: LoggingLevel, data: unknown, logger?: string): void {
    const { call, core } = this.#run;
    if (!core.logging) return;
    const least = call.logLevel ?? (call.era.logsByDefault ? "debug" : undefined);
    if (least === undefined || !passesLevel(level, least)) return;
    this.#run.notify("notifications/message", { level, ...(logger === undefined ? {} : { logger }), data });
  }

  async elicit<const S extends AnySchema>(
    message: string,
    schema: S,
    options?: QuestionOptions,
  ): Promise<InferOutput<S>> {
    const reply = await this.tryElicit(message, schema, options);
    if (reply.action === "accept") return reply.content;
    throw refusal(
      reply.action,
      `the user ${reply.action === "decline" ? "declined to answer" : "dismissed"}: ${message}`,
    );
  }

  tryElicit<const S extends AnySchema>(
    message: string,
    schema: S,
    options?: QuestionOptions,
  ): Promise<ElicitReply<InferOutput<S>>>;
  async tryElicit(message: string, schema: AnySchema, options: QuestionOptions = {}): Promise<ElicitReply<unknown>> {
    const { parser, form } = requestedSchema(this.#run, schema);
    const answer = await this.#ask(
      "elicitation/create",
      { message, requestedSchema: form },
      "elicitation.form",
      options,
    );
    return readElicitReply(answer, parser, form);
  }

  async elicitUrl(
    message: string,
    url: string,
    options: QuestionOptions & { elicitationId?: string } = {},
  ): Promise<void> {
    if (!URL.canParse(url))
      throw new McpError("internal_error", `"${url}" is no URL`, { fix: "Pass an absolute URL." });
    const { features } = this.#run.call;
    const id = features.elicitationIds ? { elicitationId: options.elicitationId ?? this.#run.core.randomId() } : {};
    const answer = await this.#ask(
      "elicitation/create",
      { mode: "url", message, url, ...id },
      "elicitation.url",
      options,
    );
    const action = isObject(answer) ? answer["action"] : undefined;
    if (action !== "accept") throw refusal(action === "decline" ? "decline" : "cancel", `the user did not open ${url}`);
  }

  async sample(request: SampleRequest, options: QuestionOptions = {}): Promise<CreateMessageResult> {
    const capability = request.tools === undefined && request.toolChoice === undefined ? "sampling" : "sampling.tools";
    const answer = await this.#ask("sampling/createMessage", { ...request }, capability, options);
    if (!isObject(answer) || answer["role"] === undefined || answer["content"] === undefined) {
      throw new McpError("invalid_params", "the client's answer to sampling/createMessage has no role and content");
    }
    // Open shape: what the protocol requires was checked.
    return answer as unknown as CreateMessageResult;
  }

  async roots(options: QuestionOptions = {}): Promise<Root[]> {
    const answer = await this.#ask("roots/list", undefined, "roots", options);
    const roots = isObject(answer) ? answer["roots"] : undefined;
    if (!Array.isArray(roots)) throw new McpError("invalid_params", "the client's answer to roots/list has no roots");
    return roots.filter((root): root is Root => isObject(root) && typeof root["uri"] === "string");
  }

  step<T>(key: string, work: () => T | Promise<T>): Promise<T>;
  step(key: string, work: () => unknown): Promise<unknown> {
    this.#mustMayAsk();
    return this.#run.asker.step(key, work);
  }

  #ask(
    method: PreparedQuestion["question"]["method"],
    params: Params | undefined,
    capability: string,
    options: QuestionOptions,
  ) {
    this.#mustMayAsk();
    const question = params === undefined ? { method } : { method, params };
    return this.#run.asker.ask({ question, capability, key: options.key });
  }

  #mustMayAsk(): void {
    if (this.#run.row.mayAsk === true) return;
    throw new McpError("internal_error", `a handler of ${this.method} may not ask the client`, {
      fix: "Ask in a tool, a prompt or a resource.",
    });
  }
}

function refusal(action: "decline" | "cancel", message: string): McpError {
  return new McpError(action === "decline" ? "declined" : "dismissed", message, {
    fix: "Catch this kind, or use `ctx.tryElicit`, to go on without the answer.",
  });
}

function clientFacts({ call, exchange }: Run): ClientFacts {
  const canBeAsked = call.era.asks === "replay" || exchange.ask !== undefined;
  return {
    info: call.clientInfo,
    capabilities: call.clientCapabilities,
    can: (capability) => canBeAsked && hasCapability(call.clientCapabilities, capability),
  };
}
