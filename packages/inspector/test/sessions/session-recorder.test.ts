import { describe, expect, it } from "vitest";
import { SessionRecorder } from "../../src/sessions/session-recorder.js";
import { Timeline } from "../../src/timeline/timeline.js";

function recorded(maxBytes?: number) {
  const timeline = new Timeline({ entries: 4 });
  const connection = {};
  let changes = 0;
  const recorder = new SessionRecorder({
    timeline,
    open: () => ["c1"],
    changed: () => {
      changes += 1;
    },
    maxBytes,
  });
  const pass = (method: string) =>
    timeline.addMessage({
      connection: "c1",
      wire: { direction: "sent", message: { jsonrpc: "2.0", method }, connection },
    });
  const methods = () => recorder.recorded("c1")?.entries.map(({ summary }) => summary.label);
  return { timeline, recorder, pass, methods, changes: () => changes };
}

describe("a recorder of sessions", () => {
  it("keeps what the timeline forgets, and nothing from before or after", () => {
    const { timeline, recorder, pass, methods, changes } = recorded();
    pass("before");
    recorder.start();
    for (let at = 0; at < 10; at++) pass(`during/${at}`);
    timeline.addEvent({ connection: "c1", text: "no message" });
    recorder.stop();
    pass("after");
    expect(methods()).toEqual(Array.from({ length: 10 }, (_, at) => `during/${at}`));
    expect(timeline.stored("c1")).toHaveLength(4);
    expect(changes()).toBe(12);
  });

  it("takes over how a connection began", () => {
    const { recorder, pass, methods } = recorded();
    for (const method of ["initialize", "notifications/initialized", "tools/list"]) pass(method);
    recorder.start();
    expect(methods()).toBeUndefined();
    pass("tools/call");
    expect(methods()).toEqual(["initialize", "notifications/initialized", "tools/call"]);
  });

  it("keeps no headers, which would not count, and are in no recording", () => {
    const { timeline, recorder } = recorded();
    recorder.start();
    const http = { method: "POST", url: "http://127.0.0.1/mcp", requestHeaders: { "x-long": "x".repeat(8_000) } };
    const wire = { direction: "sent", message: { jsonrpc: "2.0", method: "ping" }, connection: {} } as const;
    timeline.addMessage({ connection: "c1", wire, http });
    expect(timeline.stored("c1")[0]).toMatchObject({ http });
    expect(recorder.recorded("c1")?.entries).toMatchObject([{ message: wire.message }]);
    expect(recorder.recorded("c1")?.entries[0]?.http).toBeUndefined();
  });

  it("is full at its limit, says so, and begins anew", () => {
    const { recorder, pass, methods } = recorded(200);
    recorder.start();
    for (let at = 0; at < 10; at++) pass("some/method");
    expect(recorder.info()).toMatchObject({ full: true, messages: methods()?.length });
    expect(recorder.info()?.bytes).toBeLessThanOrEqual(200);
    expect(recorder.recorded("c1")?.full).toBe(true);
    recorder.start();
    expect(recorder.info()).toMatchObject({ full: false, messages: 0, bytes: 0 });
    expect(methods()).toBeUndefined();
    pass("another/method");
    expect(methods()).toEqual(["another/method"]);
  });
});
