/** W3C trace context, as it travels in `_meta`. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string;
  baggage?: string;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;
/** W3C asks vendors to carry at least these many characters of `tracestate` and `baggage`; more is not sent. */
const MAX_STATE = 512;
const MAX_BAGGAGE = 8192;

/** The members of `_meta` for a trace context. A malformed context gives none: tracing never breaks a call. */
export function traceMeta(trace: TraceContext | undefined): Record<string, string> | undefined {
  if (trace === undefined || !TRACEPARENT.test(trace.traceparent)) return undefined;
  const { traceparent, tracestate, baggage } = trace;
  return {
    traceparent,
    ...(fits(tracestate, MAX_STATE) ? { tracestate } : {}),
    ...(fits(baggage, MAX_BAGGAGE) ? { baggage } : {}),
  };
}

function fits(value: string | undefined, limit: number): value is string {
  return value !== undefined && value !== "" && value.length <= limit;
}
