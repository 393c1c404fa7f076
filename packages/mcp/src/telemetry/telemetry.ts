import type {
  AnswerFollower,
  AnswerStarted,
  ClientObserver,
  ConnectionChange,
  RequestEnded,
  RequestFollower,
  RequestStarted,
} from "../client/contract/observer.js";
import { INTERNAL_ERROR } from "../jsonrpc/error.js";
import { isObject } from "../jsonrpc/message.js";
import { checkOptions } from "../protocol/check-options.js";
import { McpError } from "../protocol/error.js";
import { LIBRARY_VERSION } from "../protocol/implementation.js";
import { CORE_METHODS } from "../protocol/methods.js";
import { notFoundCodeOf, type Revision } from "../protocol/revisions.js";
import type { TraceContext } from "../protocol/trace-context.js";
import type { Middleware } from "../server/call/middleware.js";
import type {
  CallEnded,
  CallFollower,
  CallRefused,
  CallStarted,
  Observer,
  QuestionFollower,
  QuestionStarted,
  SenderRefused,
  SessionClosed,
} from "../server/contract/observer.js";
import type { Server } from "../server/server.js";
import {
  type Attributes,
  addSpanAttributes,
  clientFailure,
  type Failure,
  OTHER,
  operationAttributes,
  serverFailure,
  sessionAttributes,
  targetExists,
  truncate,
} from "./attributes.js";
import type { ApiContext, ApiSpanContext, OpenTelemetryApi } from "./open-telemetry-api.js";
import { CLIENT, Recorder, SERVER, type StartedSpan } from "./recorder.js";

/** Options of `telemetry`. */
export interface TelemetryOptions {
  /** True to create spans. Without spans, the trace of a caller is still passed on. Default: true. */
  spans?: boolean | undefined;
  /** True to record durations as metrics. Default: true. */
  metrics?: boolean | undefined;
  /**
   * True to add arguments and results of tools and prompts to spans. They may contain anything that users and models
   * write. Default: false.
   */
  content?: boolean | undefined;
}

/** Observes servers and clients. Pass it to `server.observe`, and to `connect` or `Host` as `observe`. */
export interface Telemetry extends Observer, ClientObserver {}

const NAME = "@parley/mcp";

/**
 * Records spans and metrics by the semantic conventions of OpenTelemetry for MCP. `api` is the package
 * `@opentelemetry/api`: `import * as api from "@opentelemetry/api"`. The SDK that the program registered there exports
 * the spans and metrics. Arguments and results are recorded only with `content: true`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/observing.md | Observing}
 */
export function telemetry(api: OpenTelemetryApi, options: TelemetryOptions = {}): Telemetry {
  checkOptions("telemetry", options, "spans metrics content");
  if (typeof api?.trace?.getTracer !== "function") {
    throw new McpError("invalid_definition", "the first argument of `telemetry` is not the OpenTelemetry API", {
      fix: 'Write `import * as api from "@opentelemetry/api"` and `telemetry(api)`.',
    });
  }
  const recorder = new Recorder(api, NAME, LIBRARY_VERSION, options);
  return {
    attached(server: object) {
      // Safe: only a server calls this function, with itself.
      if (options.content === true) (server as Server).use(recordCall(api));
    },
    follow: (call: CallStarted): CallFollower => new ServerSpan(recorder, call),
    refused: (call: CallRefused) => refusedSpan(recorder, call),
    senderRefused: (sender: SenderRefused) => recorder.countRefusedSender(sender),
    sessionClosed: ({ durationMs, protocolVersion, network, transport }: SessionClosed) =>
      recorder.recordDuration(
        "mcp.server.session.duration",
        durationMs,
        sessionAttributes(protocolVersion, transport === "http" ? HTTP : network),
      ),
    request: (request: RequestStarted): RequestFollower => new ClientSpan(recorder, request, options.content === true),
    answer: (request: AnswerStarted): AnswerFollower => answerSpan(recorder, request),
    state({ sessionMs, protocolVersion, network, reason, state }: ConnectionChange) {
      if (sessionMs === undefined) return;
      const attributes = sessionAttributes(protocolVersion, network);
      if (state !== "closed" && reason !== undefined) attributes["error.type"] = McpError.from(reason).kind;
      recorder.recordDuration("mcp.client.session.duration", sessionMs, attributes);
    },
  };
}

const HTTP = { transport: "tcp", protocol: "http" } as const;

/** Maximum length of the JSON of arguments or of a result on a span, in characters. Longer JSON is truncated. */
const MAX_CONTENT_LENGTH = 16 * 1024;
/** Maximum number of arguments of a prompt on a span. Further arguments are omitted. */
const MAX_VARIABLES = 32;

/** The attributes for arguments and results of tools and prompts, by the names of the conventions. */
function contentAttributes(method: string, params: object | undefined, result: unknown): Attributes {
  const attributes: Attributes = {};
  const { arguments: args } = (params ?? {}) as { arguments?: unknown };
  if (method === "tools/call") {
    addJson(attributes, "gen_ai.tool.call.arguments", args);
    if (isObject(result) && result["isError"] !== true) addJson(attributes, "gen_ai.tool.call.result", result);
  }
  if (method === "prompts/get" && isObject(args)) {
    for (const [name, value] of Object.entries(args).slice(0, MAX_VARIABLES)) {
      attributes[`gen_ai.prompt.variable.${name.slice(0, 128)}`] = truncate(
        typeof value === "string" ? value : jsonOf(value),
      );
    }
  }
  return attributes;
}

function addJson(attributes: Attributes, key: string, value: unknown): void {
  if (value === undefined) return;
  attributes[key] = jsonOf(value).slice(0, MAX_CONTENT_LENGTH);
}

/**
 * Encodes a value for a span. A value that cannot be serialised becomes an empty string here; the error is reported
 * when the message is sent.
 */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

/** Creates middleware that adds arguments and results to the span of a call. */
function recordCall(api: OpenTelemetryApi): Middleware {
  return async ({ method, params }, next) => {
    const span = api.trace.getSpan(api.context.active());
    if (span?.isRecording() !== true) return next();
    span.setAttributes(contentAttributes(method, params, undefined));
    const result = await next();
    span.setAttributes(contentAttributes(method, undefined, result));
    return result;
  };
}

type RequestOutcome = Pick<RequestEnded, "durationMs" | "outcome" | "error">;

/** Records one request as a span of kind CLIENT and as a duration metric. */
class ClientSpan implements RequestFollower {
  readonly #recorder: Recorder;
  readonly #request: RequestStarted;
  readonly #begun: StartedSpan | undefined;
  readonly trace: TraceContext | undefined;
  readonly content?: NonNullable<RequestFollower["content"]>;

  /**
   * `call` is the context of the server's call that asks a question. It becomes the parent if no span is active,
   * because some runtimes do not preserve the ambient context.
   */
  constructor(recorder: Recorder, request: RequestStarted, hasContent: boolean, call?: ApiContext) {
    this.#recorder = recorder;
    this.#request = request;
    const { api, carrier } = recorder;
    const ambient = api.context.active();
    const given = () => call ?? (request.trace === undefined ? ambient : carrier.extract(ambient, request.trace));
    const parent = api.trace.getSpanContext(ambient) === undefined ? given() : ambient;
    const attributes = operationAttributes(request, undefined);
    addSpanAttributes(attributes, request);
    const begun = recorder.begin(CLIENT, request, attributes, parent);
    this.#begun = begun;
    this.trace = begun && carrier.inject(begun.context, begun.span.spanContext());
    if (hasContent) this.content = (params, result) => this.#record(params, result);
  }

  within(run: () => void): void {
    if (this.#begun === undefined) run();
    else this.#recorder.api.context.with(this.#begun.context, run);
  }

  ended(ended: RequestOutcome): void {
    const failure = failureOf(ended.outcome, () => clientFailure(ended.error));
    const exists = ended.outcome === "ok" || ended.outcome === "input_required";
    this.#recorder.end(this.#begun, this.#request, failure, exists);
    this.#recorder.record("client", ended.durationMs, this.#request, failure, this.#begun?.context);
  }

  #record(params: object | undefined, result: unknown): void {
    this.#begun?.span.setAttributes(contentAttributes(this.#request.method, params, result));
  }
}

/** Key of the received trace in the context of a call. */
const RECEIVED = Symbol("parley.received");

/** Records one call to a server as a span, and as a duration. */
class ServerSpan implements CallFollower {
  readonly #recorder: Recorder;
  readonly #call: CallStarted;
  readonly #begun: StartedSpan | undefined;
  readonly #context: ApiContext;

  constructor(recorder: Recorder, call: CallStarted) {
    this.#recorder = recorder;
    this.#call = call;
    const { parent, linked } = parentOf(recorder, call);
    const attributes = operationAttributes(call, undefined);
    addSpanAttributes(attributes, call);
    if (call.remoteAddress !== undefined) attributes["client.address"] = call.remoteAddress;
    this.#begun = recorder.begin(SERVER, call, attributes, parent, linked);
    this.#context = this.#begun?.context ?? parent;
  }

  within(run: () => void): void {
    this.#recorder.api.context.with(this.#context, run);
  }

  ended(ended: CallEnded): void {
    const { outcome, error, protocolVersion } = ended;
    const isAborted = ended.failure === "aborted";
    const failure = failureOf(outcome, () => serverFailure(error, codeOf(error, protocolVersion), isAborted));
    this.#recorder.end(this.#begun, this.#call, failure, targetExists(ended));
    this.#recorder.record("server", ended.durationMs, ended, failure, this.#begun?.context);
  }

  question({ method, requestId }: QuestionStarted): QuestionFollower {
    const { protocolVersion, sessionId, network } = this.#call;
    const request = { method, requestId, protocolVersion, sessionId, network, name: undefined };
    const asked = { ...request, callId: requestId, attempt: 1, trace: undefined, target: "" };
    return new ClientSpan(this.#recorder, asked, false, this.#context);
  }
}

/**
 * Records a request that was refused before it became a call: as a span that ends at once, and as a duration of 0. An
 * unknown method does not become the span name.
 */
function refusedSpan(recorder: Recorder, { method, requestId, error }: CallRefused): void {
  const subject = { method: knownMethod(method), name: undefined, protocolVersion: undefined, network: undefined };
  const attributes = operationAttributes(subject, undefined);
  if (requestId !== undefined) attributes["jsonrpc.request.id"] = String(requestId).slice(0, 128);
  const failure = serverFailure(error, McpError.from(error).code, false);
  recorder.end(recorder.begin(SERVER, subject, attributes, recorder.api.context.active()), subject, failure, false);
  recorder.record("server", 0, subject, failure);
}

/** Returns a method of the protocol unchanged, and one name for all methods that peers invent. */
function knownMethod(method: string): string {
  return CORE_METHODS.some((row) => row.method === method) ? method : OTHER;
}

/**
 * Returns the caller's trace as parent, with a link to the active span, such as the span of the HTTP request. The
 * active span is the parent if the caller sent no trace, or if an outer call already has this trace.
 */
function parentOf(
  recorder: Recorder,
  { trace }: Pick<CallStarted, "trace">,
): { parent: ApiContext; linked?: ApiSpanContext } {
  const ambient = recorder.api.context.active();
  if (trace === undefined || ambient.getValue(RECEIVED) === (trace.traceparent ?? trace.baggage)) {
    return { parent: ambient };
  }
  const parent = recorder.carrier.extract(ambient, trace).setValue(RECEIVED, trace.traceparent ?? trace.baggage);
  const linked = recorder.api.trace.getSpanContext(ambient);
  const isOther = linked !== undefined && trace.spanId !== undefined && linked.spanId !== trace.spanId;
  return isOther ? { parent, linked } : { parent };
}

function failureOf(
  outcome: CallEnded["outcome"] | RequestOutcome["outcome"],
  ofError: () => Failure,
): Failure | undefined {
  if (outcome === "tool_error") return { type: "tool_error", code: undefined, message: undefined };
  return outcome === "error" ? ofError() : undefined;
}

/** The error code that the caller receives. */
function codeOf(error: unknown, protocolVersion: string): number {
  if (!McpError.is(error)) return INTERNAL_ERROR;
  // Safe: a call has a revision that the server supports.
  return error.kind === "resource_not_found" ? notFoundCodeOf(protocolVersion as Revision) : error.code;
}

/** Records a request that a server sent to this client: as a span of kind SERVER, and as a duration metric. */
function answerSpan(recorder: Recorder, started: AnswerStarted): AnswerFollower {
  const { protocolVersion, requestId, sessionId } = started;
  const { transport, protocol } = started.network ?? {};
  // Omit the address: it is the address of the MCP server, but in this span the client is the side that serves.
  const network = { transport, protocol };
  const subject = { method: knownMethod(started.method), name: undefined, protocolVersion, network };
  const { parent, linked } = parentOf(recorder, started);
  const attributes = operationAttributes(subject, undefined);
  addSpanAttributes(attributes, { ...subject, requestId, sessionId });
  const begun = recorder.begin(SERVER, subject, attributes, parent, linked);
  return {
    within: (run) => recorder.api.context.with(begun?.context ?? parent, run),
    ended({ outcome, error, durationMs }) {
      const isCancelled = outcome === "cancelled";
      const failure = outcome === "ok" ? undefined : serverFailure(undefined, error?.code ?? 0, isCancelled);
      recorder.end(begun, subject, failure, true);
      recorder.record("server", durationMs, subject, failure, begun?.context);
    },
  };
}
