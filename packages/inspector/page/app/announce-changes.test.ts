import { expect, test } from "vitest";
import type { CallInfo } from "../../src/contract/calls.js";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import type { InspectorState } from "../../src/contract/inspector-state.js";
import { describeChanges } from "./announce-changes.js";

const connection: ConnectionInfo = {
  id: "c1",
  target: { id: "t1", kind: "url", shown: "http://127.0.0.1/mcp" },
  status: "connecting",
  capabilities: {},
  opened: 1,
  roots: [],
  lists: {},
};
const call: CallInfo = { id: "k1", connection: "c1", kind: "tool", name: "weather", status: "running", startedMs: 0 };
const state: InspectorState = {
  version: "1",
  targets: [],
  connections: [connection],
  calls: [call],
  questions: [],
  subscriptions: [],
  modelCommand: false,
  timeline: { first: 0, next: 0, bytes: 0 },
};

test("nothing is said at first, and nothing when nothing changed", () => {
  expect(describeChanges(undefined, state)).toBeUndefined();
  expect(describeChanges(state, { ...state })).toBeUndefined();
});

test("a connection that is ready and a call that has ended are told", () => {
  const now: InspectorState = {
    ...state,
    connections: [{ ...connection, status: "ready", server: { name: "weather-server", version: "1" } }],
    calls: [{ ...call, status: "failed", durationMs: 12 }],
  };
  expect(describeChanges(state, now)).toBe("weather-server: ready. weather: failed after 12 ms");
});

test("a new question is told, an answered one is not", () => {
  const question = {
    id: "q1",
    connection: "c1",
    askedMs: 1,
    question: {
      kind: "form" as const,
      params: { message: "?", requestedSchema: { type: "object" as const, properties: {} } },
    },
  };
  const asked = { ...state, questions: [question] };
  expect(describeChanges(state, asked)).toBe("1 question is waiting");
  expect(describeChanges(asked, state)).toBeUndefined();
});
