import { McpError } from "@parley/mcp";
import type { WireMessage } from "@parley/mcp/transport";
import { describe, expect, it } from "vitest";
import { boundedJson } from "../../src/timeline/bounded-json.js";
import type { TimelineLimits } from "../../src/timeline/entry-ring.js";
import { MAX_DETAIL_LENGTH, Timeline } from "../../src/timeline/timeline.js";

const REVISION = "2025-11-25";

/** A timeline, and one connection whose messages are added. */
function connected(limits?: Partial<TimelineLimits>) {
  const timeline = new Timeline(limits);
  const wire = {};
  const pass = (
    direction: WireMessage["direction"],
    message: Record<string, unknown>,
    more: { about?: string | number; call?: string; fallbackCall?: () => string; on?: object } = {},
  ) => {
    const { about, on = wire, ...rest } = more;
    const passed = {
      direction,
      message: { jsonrpc: "2.0", ...message },
      connection: on,
      ...(about === undefined ? {} : { about }),
    };
    return timeline.addMessage({ connection: "c1", wire: passed, revision: REVISION, ...rest });
  };
  const summary = (seq: number) => timeline.detail(seq).summary;
  return { timeline, pass, summary };
}

describe("a timeline", () => {
  it("pairs an answer with its request, and names it after that", () => {
    const { pass, summary } = connected();
    const asked = pass("sent", { id: 1, method: "tools/call", params: { name: "sum", arguments: {} } });
    const other = pass("sent", { id: 2, method: "prompts/get", params: { name: "greet" } });
    const answer = pass("received", { id: 1, result: { content: [] } });
    expect(summary(asked)).toMatchObject({ kind: "request", label: "tools/call", about: "sum", problems: 0 });
    expect(summary(other)).toMatchObject({ label: "prompts/get", about: "greet" });
    expect(summary(answer)).toMatchObject({
      kind: "result",
      label: "tools/call",
      about: "sum",
      answers: asked,
      failed: false,
    });
    expect(summary(answer).latencyMs).toBeGreaterThanOrEqual(0);
  });

  it("tells ids apart by who asked, by their type and by their connection", () => {
    const { pass, summary } = connected();
    const sent = pass("sent", { id: 1, method: "tools/list" });
    const text = pass("sent", { id: "1", method: "prompts/list" });
    const asked = pass("received", { id: 1, method: "roots/list" });
    const elsewhere = pass("received", { id: 1, result: {} }, { on: {} });
    expect(summary(elsewhere).answers).toBeUndefined();
    expect(summary(pass("sent", { id: 1, result: { roots: [] } })).answers).toBe(asked);
    expect(summary(pass("received", { id: "1", result: { prompts: [] } })).answers).toBe(text);
    expect(summary(pass("received", { id: 1, result: { tools: [] } })).answers).toBe(sent);
    // Answered once: a second answer has no request.
    expect(summary(pass("received", { id: 1, result: { tools: [] } })).answers).toBeUndefined();
  });

  it("marks errors and failed tools", () => {
    const { pass, summary } = connected();
    for (const id of [1, 2]) pass("sent", { id, method: "tools/call", params: { name: "x" } });
    const failed = pass("received", { id: 1, result: { content: [], isError: true } });
    const refused = pass("received", { id: 2, error: { code: -32603, message: "no" } });
    expect(summary(failed)).toMatchObject({ kind: "result", failed: true });
    expect(summary(refused)).toMatchObject({ kind: "error", failed: true, label: "tools/call" });
  });

  it("holds messages to the schema of their revision, and says where they break it", () => {
    const { timeline, pass, summary } = connected();
    pass("sent", { id: 1, method: "tools/list" });
    const wrong = pass("received", { id: 1, result: { tools: [{ name: 7, inputSchema: { type: "object" } }] } });
    expect(summary(wrong).problems).toBe(1);
    const { problems, definition, revision } = timeline.detail(wrong);
    expect({ definition, revision }).toEqual({ definition: "ListToolsResult", revision: REVISION });
    expect(problems).toMatchObject([{ path: "/result/tools/0/name" }]);
  });

  it("knows the revision of a handshake before the connection does", () => {
    const timeline = new Timeline();
    const wire = {};
    const add = (direction: WireMessage["direction"], message: Record<string, unknown>) =>
      timeline.addMessage({
        connection: "c1",
        wire: { direction, message: { jsonrpc: "2.0", ...message }, connection: wire },
      });
    add("sent", {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } },
    });
    const answer = add("received", {
      id: 1,
      result: { protocolVersion: "2025-03-26", capabilities: {}, serverInfo: { name: "b", version: "1" } },
    });
    const later = add("sent", { method: "notifications/initialized" });
    expect(timeline.detail(answer).revision).toBe("2025-03-26");
    expect(timeline.detail(later)).toMatchObject({ revision: "2025-03-26", definition: "InitializedNotification" });
  });

  it("says why a message is not held to the schema", () => {
    const timeline = new Timeline();
    const add = (message: Record<string, unknown>, revision?: typeof REVISION) =>
      timeline.addMessage({ connection: "c1", revision, wire: { direction: "received", message, connection: {} } });
    const early = add({ jsonrpc: "2.0", method: "notifications/message", params: {} });
    expect(timeline.detail(early)).toMatchObject({ unchecked: "no revision was negotiated yet", problems: [] });
  });

  it("holds a message of some megabytes to the schema as a whole", () => {
    const { timeline, pass, summary } = connected();
    pass("sent", { id: 1, method: "tools/call", params: { name: "x" } });
    const content = [
      { type: "text", text: "y".repeat(3_000_000) },
      { type: "image", mimeType: "image/png", data: "A".repeat(2_000_000) },
      { type: "text", text: 7 },
    ];
    const large = pass("received", { id: 1, result: { content } });
    expect(summary(large).problems).toBe(1);
    const { text, cut, unchecked, definition, problems } = timeline.detail(large);
    expect({ cut, unchecked, definition }).toEqual({ cut: true, unchecked: undefined, definition: "CallToolResult" });
    expect(problems).toMatchObject([{ path: "/result/content/2/text" }]);
    expect(text.length).toBeLessThanOrEqual(MAX_DETAIL_LENGTH);
  });

  it("says that only the beginning of a message was held to the schema, with what is wrong there", () => {
    const { timeline, pass } = connected();
    const right = { type: "text", text: "" };
    const examined = (first: object) => {
      pass("sent", { id: 1, method: "tools/call", params: { name: "x" } });
      const content = [first, ...new Array(100_000).fill(right), { type: "text" }];
      return timeline.detail(pass("received", { id: 1, result: { content } }));
    };
    const unchecked = "it is too large to be checked completely";
    expect(examined(right)).toMatchObject({ unchecked, definition: "CallToolResult", problems: [] });
    expect(examined({ type: "text", text: 7 })).toMatchObject({
      unchecked,
      problems: [{ path: "/result/content/0/text" }],
    });
  });

  it("gives each message the call that it belongs to", () => {
    const { pass, summary } = connected();
    const call = (seq: number) => summary(seq).call;
    pass("sent", { id: 1, method: "tools/call", params: { name: "x", _meta: { progressToken: "t" } } }, { call: "a" });
    pass("sent", { id: 2, method: "tools/call", params: { name: "x" } }, { call: "b" });
    expect(
      call(pass("received", { method: "notifications/progress", params: { progressToken: "t", progress: 1 } })),
    ).toBe("a");
    expect(call(pass("sent", { method: "notifications/cancelled", params: { requestId: 2 } }))).toBe("b");
    const asked = pass("received", { id: 9, method: "elicitation/create", params: {} }, { about: 2 });
    expect(call(asked)).toBe("b");
    expect(call(pass("sent", { id: 9, result: { action: "decline" } }))).toBe("b");
    expect(call(pass("received", { id: 2, result: { task: { taskId: "job" } } }))).toBe("b");
    expect(call(pass("received", { method: "notifications/tasks/status", params: { taskId: "job" } }))).toBe("b");
    expect(
      call(pass("received", { method: "notifications/message", params: {} }, { fallbackCall: () => "only" })),
    ).toBe("only");
    expect(call(pass("received", { method: "notifications/message", params: {} }))).toBeUndefined();
    expect(call(pass("received", { id: 1, result: { content: [] } }, { fallbackCall: () => "only" }))).toBe("a");
  });

  it("adds what is known of the exchange of a message later", () => {
    const { timeline, pass } = connected();
    const seq = pass("sent", { id: 1, method: "ping" });
    const before = timeline.range().bytes;
    timeline.attachHttp(seq, { method: "POST", url: "http://x/", requestHeaders: { a: "b" } });
    timeline.attachHttp(seq, { method: "POST", url: "http://x/", requestHeaders: { a: "b" }, status: 200 });
    timeline.attachHttp(seq + 1, { method: "GET", url: "http://never/", requestHeaders: {} });
    expect(timeline.detail(seq).http).toMatchObject({ status: 200 });
    const { http } = timeline.detail(seq);
    expect(timeline.range().bytes).toBe(before + JSON.stringify(http).length);
  });

  it("keeps exchanges and events that are no messages", () => {
    const timeline = new Timeline();
    const exchange = { method: "GET", url: "http://x/", requestHeaders: {}, status: 404, responseBody: "gone" };
    const http = timeline.addHttp({ connection: "c1", label: "GET http://x/: HTTP 404", exchange, failed: true });
    const event = timeline.addEvent({ connection: "c1", text: `stderr: ${"x".repeat(9_999)}` });
    expect(timeline.detail(http)).toMatchObject({ http: exchange, summary: { kind: "http", failed: true, bytes: 4 } });
    expect(timeline.detail(event).summary.kind).toBe("event");
    expect(timeline.detail(event).text.length).toBeLessThan(4_100);
  });
});

describe("the limits of a timeline", () => {
  it("forget the oldest entries first, and never reuse a number", () => {
    const { timeline, pass } = connected({ entries: 3 });
    const seqs = [1, 2, 3, 4, 5].map((id) => pass("sent", { id, method: "ping" }));
    expect(timeline.summaries(0, 10).map(({ seq }) => seq)).toEqual(seqs.slice(2));
    expect(timeline.summaries(seqs[3] ?? 0, 1).map(({ seq }) => seq)).toEqual([seqs[3]]);
    expect(timeline.summaries(0, 0)).toEqual([]);
    timeline.clear();
    expect(timeline.range()).toEqual({ first: 6, next: 6, bytes: 0 });
    expect(pass("sent", { id: 6, method: "ping" })).toBe(6);
  });

  it("say that an entry is forgotten", () => {
    const { timeline, pass } = connected({ entries: 1 });
    pass("sent", { id: 1, method: "ping" });
    pass("sent", { id: 2, method: "ping" });
    for (const seq of [1, 3, 0, -1, 1.5]) {
      let thrown: unknown;
      try {
        timeline.detail(seq);
      } catch (error) {
        thrown = error;
      }
      expect(McpError.is(thrown) && thrown.kind).toBe("invalid_params");
    }
  });

  it("bound the bytes of messages, and keep no message that alone is larger", () => {
    const { timeline, pass } = connected({ bytes: 10_000 });
    for (let id = 0; id < 50; id++) pass("sent", { id, method: "x", params: { text: "y".repeat(1_000) } });
    const { first, next, bytes } = timeline.range();
    expect(bytes).toBeLessThanOrEqual(10_000);
    expect(next - first).toBe(9);
    const huge = pass("sent", { id: 99, method: "x", params: { text: "y".repeat(10_001) } });
    expect(timeline.detail(huge)).toMatchObject({
      text: "",
      cut: true,
      unchecked: expect.stringMatching(/not stored/),
    });
    expect(timeline.range().bytes).toBeLessThanOrEqual(10_000);
  });

  it("hold in a burst of 100,000 messages", () => {
    const { timeline, pass } = connected({ entries: 1_000 });
    let told = 0;
    const silence = timeline.onAdded(() => told++);
    for (let at = 0; at < 100_000; at++) {
      pass("received", { method: "notifications/message", params: { level: "info", data: `line ${at}` } });
    }
    silence();
    pass("sent", { id: 1, method: "ping" });
    expect(told).toBe(100_000);
    expect(timeline.summaries(0, 1_000_000)).toHaveLength(1_000);
    expect(timeline.range()).toMatchObject({ first: 99_002, next: 100_002 });
    expect(timeline.stored("c1")).toHaveLength(1_000);
    expect(timeline.stored("c2")).toHaveLength(0);
  });

  it("hold for requests that are never answered", () => {
    const { pass, summary } = connected({ entries: 100 });
    for (let id = 0; id < 20_000; id++)
      pass("sent", { id, method: "tools/call", params: { name: "x" } }, { call: `call-${id}` });
    expect(summary(pass("received", { id: 0, result: { content: [] } })).answers).toBeUndefined();
    expect(summary(pass("received", { id: 19_999, result: { content: [] } })).answers).toBe(20_000);
  });

  it("hold for messages that are nested deeper than JSON can be written", () => {
    const { timeline, pass } = connected();
    let deep: unknown = [];
    for (let level = 0; level < 200_000; level++) deep = [deep];
    const seq = pass("received", { method: "notifications/message", params: { deep } });
    expect(timeline.detail(seq).unchecked).toMatch(/not stored/);
  });
});

describe("a message as text", () => {
  it("is JSON with two spaces", () => {
    const value = { a: [1, "x", null, true, {}, []], b: { c: "d" } };
    expect(boundedJson(value, 10_000)).toEqual({ text: JSON.stringify(value, null, 2), cut: false });
  });

  it("is cut where it is long enough, however it is nested", () => {
    let deep: unknown = "end";
    for (let level = 0; level < 5_000; level++) deep = { deep, more: [1, 2, 3] };
    for (const value of [deep, "x".repeat(100_000), new Array(100_000).fill({ a: 1 }), { ["k".repeat(9_999)]: 1 }]) {
      const { text, cut } = boundedJson(value, 1_000);
      expect(text.length).toBeLessThanOrEqual(1_000);
      expect(cut).toBe(true);
    }
  });
});
