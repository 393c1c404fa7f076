import { describe, expect, it } from "vitest";
import { traceMeta } from "./trace.js";

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

describe("OTEL-01: trace context in _meta", () => {
  it("passes the three keys of W3C", () => {
    expect(traceMeta({ traceparent, tracestate: "a=1", baggage: "k=v" })).toEqual({
      traceparent,
      tracestate: "a=1",
      baggage: "k=v",
    });
  });

  for (const bad of [
    "",
    "00",
    "nonsense",
    traceparent.toUpperCase(),
    traceparent.replace("00-", "ff-"),
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
    `00-0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}-01`,
  ]) {
    it(`OTEL-02: leaves out the malformed "${bad.slice(0, 20)}"`, () => {
      expect(traceMeta({ traceparent: bad, tracestate: "a=1" })).toBeUndefined();
    });
  }

  it("leaves out state and baggage that are too long or empty", () => {
    expect(traceMeta({ traceparent, tracestate: "x".repeat(513), baggage: "" })).toEqual({ traceparent });
  });
});
