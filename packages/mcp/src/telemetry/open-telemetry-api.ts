/**
 * The part of `@opentelemetry/api` that `telemetry` uses. Declared structurally, so that programs that import
 * `@parley/mcp/telemetry` without calling `telemetry` need not install the package or its types.
 */
export interface OpenTelemetryApi {
  /** Reads and sets the active context. */
  readonly context: {
    active(): ApiContext;
    with(context: ApiContext, run: () => void): void;
  };
  /** Creates tracers, and reads and sets the span of a context. */
  readonly trace: {
    getTracer(name: string, version?: string): ApiTracer;
    getSpanContext(context: ApiContext): ApiSpanContext | undefined;
    setSpan(context: ApiContext, span: ApiSpan): ApiContext;
    setSpanContext(context: ApiContext, span: ApiSpanContext): ApiContext;
    getSpan(context: ApiContext): ApiSpan | undefined;
  };
  /** Creates meters. */
  readonly metrics: { getMeter(name: string, version?: string): ApiMeter };
  /** Reads and writes traces with the propagators that the program registered. */
  readonly propagation: {
    inject(context: ApiContext, carrier: Record<string, unknown>): void;
    extract(context: ApiContext, carrier: Record<string, unknown>): ApiContext;
    fields(): string[];
  };
}

/** The ambient context of a program. */
export interface ApiContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): ApiContext;
  deleteValue(key: symbol): ApiContext;
}

/** The identity of a span across processes. */
export interface ApiSpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly isRemote?: boolean;
}

/** A span that has started. */
export interface ApiSpan {
  spanContext(): ApiSpanContext;
  setAttribute(name: string, value: string | number): unknown;
  setAttributes(attributes: Record<string, string | number>): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  updateName(name: string): unknown;
  end(): void;
  isRecording(): boolean;
}

/** Starts spans. */
export interface ApiTracer {
  startSpan(
    name: string,
    options: { kind: number; attributes: Record<string, string | number>; links?: { context: ApiSpanContext }[] },
    context: ApiContext,
  ): ApiSpan;
}

interface ApiMeter {
  createHistogram(
    name: string,
    options: { description: string; unit: string; advice: { explicitBucketBoundaries: number[] } },
  ): ApiHistogram;
  createCounter?(name: string, options: { description: string; unit: string }): ApiCounter;
}

/** An instrument that counts. */
export interface ApiCounter {
  add(value: number, attributes: Record<string, string | number>): void;
}

/** An instrument that records durations. */
export interface ApiHistogram {
  record(value: number, attributes: Record<string, string | number>, context?: ApiContext): void;
}
