import { expect, test } from "vitest";
import type { InspectorState } from "../../src/contract/inspector-state.js";
import { chosenConnection, currentConnection, inspectorState } from "./page-state.js";

const stateWith = (...ids: readonly string[]): InspectorState => ({
  version: "1",
  targets: [],
  connections: ids.map((id) => ({
    id,
    target: { id: `target of ${id}`, kind: "url", shown: "http://127.0.0.1/mcp" },
    status: "ready",
    capabilities: {},
    opened: 1,
    roots: [],
    lists: {},
  })),
  calls: [],
  questions: [],
  subscriptions: [],
  modelCommand: false,
  timeline: { first: 0, next: 0, bytes: 0 },
});
const shown = () => currentConnection.value?.id;

test("what was shown stays until the inspector tells of the chosen connection; of one that is forgotten nothing stays", () => {
  expect(shown()).toBeUndefined();
  inspectorState.value = stateWith("c1", "c2");
  expect(shown()).toBe("c1");
  chosenConnection.value = "c2";
  expect(shown()).toBe("c2");
  chosenConnection.value = "c3";
  expect(shown()).toBe("c2");
  inspectorState.value = stateWith("c1", "c2", "c3");
  expect(shown()).toBe("c3");
  inspectorState.value = stateWith("c1", "c2");
  expect(shown()).toBe("c1");
});
