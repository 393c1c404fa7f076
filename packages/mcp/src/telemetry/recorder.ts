import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR } from "../jsonrpc/error.js";
import { RESOURCE_NOT_FOUND } from "../protocol/error.js";
import { readTrace, type TraceContext } from "../protocol/trace-context.js";
import type { SenderRefused } from "../server/contract/observer.js";
import {
  type Attributes,
  type Failure,
  isNamed,
  KnownNames,
  MAX_NAMES,
  MAX_REASONS,
  OTHER,
  operationAttributes,
  refusedReason,
  type Subject,
} from "./attributes.js";
import type {
  ApiContext,
  ApiCounter,
  ApiHistogram,
  ApiSpan,
  ApiSpanContext,
  ApiTracer,
  OpenTelemetryApi,
} from "./open-telemetry-api.js";

/**
 * Writes the trace of a context to `_meta`, and reads it from there. Uses the propagators of the program, or W3C Trace
 * Context if the program has none.
 */
class TraceCarrier {
  readonly #api: OpenTelemetryApi;
  #propagates = false;

  constructor(api: OpenTelemetryApi) {
    this.#api = api;
  }

  /** Returns the trace to send for a context with this span. */
  inject(context: ApiContext, span: ApiSpanContext): TraceContext | undefined {
    if (!this.#hasPropagators()) return traceOf(span);
    const carrier: Record<string, unknown> = {};
    this.#api.propagation.inject(context, carrier);
    return readTrace(carrier);
  }

  /** Returns the context with the span of a received trace as parent. */
  extract(ambient: ApiContext, trace: TraceContext): ApiContext {
    const { traceparent, tracestate, baggage, traceId, spanId, sampled } = trace;
    if (this.#hasPropagators()) return this.#api.propagation.extract(ambient, { traceparent, tracestate, baggage });
    if (traceId === undefined || spanId === undefined) return ambient;
    const span = { traceId, spanId, traceFlags: sampled === true ? 1 : 0, isRemote: true };
    return this.#api.trace.setSpanContext(ambient, span);
  }

  /**
   * True if the program has propagators. Checks again until it finds some, because a program may start its SDK later.
   */
  #hasPropagators(): boolean {
    this.#propagates ||= this.#api.propagation.fields().length > 0;
    return this.#propagates;
  }
}

function traceOf({ traceId, spanId, traceFlags }: ApiSpanContext): TraceContext | undefined {
  return readTrace({ traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}` });
}

/** Constants of OpenTelemetry: the kinds of spans, and the status of a failed span. */
export const SERVER = 1;
export const CLIENT = 2;
const ERROR = 2;

/** The bucket bounds that the semantic conventions recommend, in seconds. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/**
 * Maximum number of error codes that become labels, including the common codes below. Further codes become `_OTHER`.
 */
const MAX_CODES = 100;
const COMMON_CODES = [
  PARSE_ERROR,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  INVALID_PARAMS,
  INTERNAL_ERROR,
  RESOURCE_NOT_FOUND,
];

const DESCRIPTIONS = {
  "mcp.client.operation.duration": "The duration of a request, from when it was sent until its response arrived.",
  "mcp.server.operation.duration": "The duration of a request, from when it was received until its response was made.",
  "mcp.client.session.duration": "The duration of a session, as the client observed it.",
  "mcp.server.session.duration": "The duration of a session, as the server observed it.",
} as const;

/** A started span, and its context. */
export interface StartedSpan {
  readonly span: ApiSpan;
  readonly context: ApiContext;
  /**
   * True if the span name is complete. The name of a tool or prompt is added when the tool or prompt is known to exist.
   */
  readonly isNamed: boolean;
}

interface RecorderOptions {
  readonly spans?: boolean | undefined;
  readonly metrics?: boolean | undefined;
}

/** The instruments of one `Telemetry` object. */
export class Recorder {
  readonly api: OpenTelemetryApi;
  readonly carrier: TraceCarrier;
  readonly #options: RecorderOptions;
  readonly #named: [name: string, version: string];
  readonly #tracer: ApiTracer;
  readonly #histograms = new Map<string, ApiHistogram>();
  readonly #names = new KnownNames(MAX_NAMES);
  /** Known error codes, bounded because a peer can invent any number of codes. */
  readonly #codes = new KnownNames(MAX_CODES);

  readonly #reasons = new KnownNames(MAX_REASONS);
  #senders: ApiCounter | undefined;

  constructor(api: OpenTelemetryApi, name: string, version: string, options: RecorderOptions) {
    this.api = api;
    this.carrier = new TraceCarrier(api);
    this.#options = options;
    this.#named = [name, version];
    this.#tracer = api.trace.getTracer(name, version);
    for (const code of COMMON_CODES) this.#codes.learn(String(code));
  }

  /** Records a duration, in milliseconds. */
  recordDuration(name: keyof typeof DESCRIPTIONS, ms: number, attributes: Attributes, context?: ApiContext): void {
    if (this.#options.metrics === false) return;
    let histogram = this.#histograms.get(name);
    if (histogram === undefined) {
      // Created with the first value, because by then the program has started its SDK.
      const advice = { explicitBucketBoundaries: BUCKETS };
      const options = { description: DESCRIPTIONS[name], unit: "s", advice };
      histogram = this.api.metrics.getMeter(...this.#named).createHistogram(name, options);
      this.#histograms.set(name, histogram);
    }
    histogram.record(ms / 1000, attributes, context);
  }

  /** Counts a refused sender, by reason. */
  countRefusedSender(sender: SenderRefused): void {
    if (this.#options.metrics === false) return;
    this.#senders ??= this.api.metrics.getMeter(...this.#named).createCounter?.("mcp.server.senders.refused", {
      description: "Requests and connections whose sender was refused.",
      unit: "{request}",
    });
    this.#senders?.add(1, { "error.type": refusedReason(sender, this.#reasons) });
  }

  /** Starts the span of an operation. Undefined if spans are disabled. */
  begin(
    kind: number,
    subject: Subject,
    attributes: Attributes,
    parent: ApiContext,
    linked?: ApiSpanContext,
  ): StartedSpan | undefined {
    if (this.#options.spans === false) return undefined;
    const links = linked === undefined ? undefined : { links: [{ context: linked }] };
    const { method, name } = subject;
    const hasName = isNamed(method) && this.#known(name) !== undefined;
    const span = this.#tracer.startSpan(hasName ? `${method} ${name}` : method, { kind, attributes, ...links }, parent);
    return { span, context: this.api.trace.setSpan(parent, span), isNamed: hasName };
  }

  /** Ends the span. `exists` is true if the call proved that its tool or prompt exists. */
  end(begun: StartedSpan | undefined, subject: Subject, failure: Failure | undefined, exists: boolean): void {
    const { method, name } = subject;
    const isKnown = name !== undefined && isNamed(method) && (exists ? this.#names.learn(name) : this.#names.has(name));
    if (begun === undefined) return;
    const { span } = begun;
    if (isKnown && !begun.isNamed) span.updateName(`${method} ${name}`);
    if (failure !== undefined) {
      addFailure(failure, (key, value) => span.setAttribute(key, value));
      if (failure.type !== undefined) {
        span.setStatus(failure.message === undefined ? { code: ERROR } : { code: ERROR, message: failure.message });
      }
    }
    span.end();
  }

  /** Records the duration of an operation, in milliseconds. */
  record(
    side: "client" | "server",
    ms: number,
    subject: Subject,
    failure: Failure | undefined,
    context?: ApiContext,
  ): void {
    const attributes = operationAttributes(subject, this.#known(subject.name));
    if (failure !== undefined) {
      addFailure(this.#bounded(failure), (key, value) => {
        attributes[key] = value;
      });
    }
    this.recordDuration(`mcp.${side}.operation.duration`, ms, attributes, context);
  }

  /** Replaces the error code by `_OTHER` if the maximum number of codes is already known. */
  #bounded({ type, code, message }: Failure): Failure {
    if (code === undefined || this.#codes.learn(code)) return { type, code, message };
    return { type: type === undefined ? undefined : OTHER, code: OTHER, message };
  }

  #known(name: string | undefined): string | undefined {
    return name !== undefined && this.#names.has(name) ? name : undefined;
  }
}

function addFailure({ type, code }: Failure, add: (key: string, value: string) => void): void {
  if (type !== undefined) add("error.type", type);
  if (code !== undefined) add("rpc.response.status_code", code);
}
