import { describe, expect, it } from "vitest";
import { readTrace, traceMeta } from "./trace-context.js";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${spanId}-01`;

describe("trace context (OTEL-01, OTEL-02)", () => {
  it("is read from `_meta` and written back", () => {
    const meta = { traceparent, tracestate: "a=1,b=2", baggage: "user=7", other: 1 };
    const trace = readTrace(meta);
    expect(trace).toEqual({ traceparent, traceId, spanId, sampled: true, tracestate: "a=1,b=2", baggage: "user=7" });
    expect(traceMeta(trace ?? {})).toEqual({ traceparent, tracestate: "a=1,b=2", baggage: "user=7" });
    expect(readTrace({ baggage: "a=b", tracestate: "lost=1" })).toEqual({ baggage: "a=b" });
    expect(readTrace({ traceparent: `01-${traceId}-${spanId}-00-later` })?.sampled).toBe(false);
  });

  it.each([
    undefined,
    null,
    "text",
    {},
    { traceparent: 5 },
    { traceparent: "" },
    { traceparent: traceparent.toUpperCase() },
    { traceparent: `ff-${traceId}-${spanId}-01` },
    { traceparent: `${traceparent}-more` },
    { traceparent: `00-${"0".repeat(32)}-${spanId}-01` },
    { traceparent: `00-${traceId}-${"0".repeat(16)}-01` },
    { traceparent: ` ${traceparent}` },
    { traceparent: "x".repeat(10_000) },
    { baggage: { a: 1 } },
    { baggage: "x".repeat(8193) },
    { baggage: "line\nbreak" },
  ])("is ignored when malformed: %j", (meta) => {
    expect(readTrace(meta)).toBeUndefined();
  });
});
