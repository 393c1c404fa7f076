import { readTrace, type TraceContext } from "../protocol/trace-context.js";
import type { ApiContext, ApiSpanContext, OpenTelemetryApi } from "./open-telemetry-api.js";

/** Carries the trace of a context in `_meta`, by the propagators of the program or, where it has none, by W3C Trace Context. */
export class TraceCarrier {
  readonly #api: OpenTelemetryApi;
  #propagates = false;

  constructor(api: OpenTelemetryApi) {
    this.#api = api;
  }

  /** The trace to send, of a context with this span. */
  toSend(context: ApiContext, span: ApiSpanContext): TraceContext | undefined {
    if (!this.#hasPropagators()) return traceOf(span);
    const carrier: Record<string, unknown> = {};
    this.#api.propagation.inject(context, carrier);
    return readTrace(carrier);
  }

  /** The context that a received trace leads to. */
  received(ambient: ApiContext, trace: TraceContext): ApiContext {
    const { traceparent, tracestate, baggage, traceId, spanId, sampled } = trace;
    if (this.#hasPropagators()) return this.#api.propagation.extract(ambient, { traceparent, tracestate, baggage });
    if (traceId === undefined || spanId === undefined) return ambient;
    const span = { traceId, spanId, traceFlags: sampled === true ? 1 : 0, isRemote: true };
    return this.#api.trace.setSpanContext(ambient, span);
  }

  /** Asked until there are some, because a program may start its SDK later than this. */
  #hasPropagators(): boolean {
    this.#propagates ||= this.#api.propagation.fields().length > 0;
    return this.#propagates;
  }
}

function traceOf({ traceId, spanId, traceFlags }: ApiSpanContext): TraceContext | undefined {
  return readTrace({ traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}` });
}
