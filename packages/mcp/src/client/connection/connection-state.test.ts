import { describe, expect, it } from "vitest";
import { McpError } from "../../protocol/error.js";
import { TRANSITIONS, transition } from "./connection-state.js";

const CONNECTION_STATES = ["disconnected", "connecting", "ready", "recovering", "closed"] as const;
const CONNECTION_EVENTS = ["connect", "established", "lost", "failed", "close"] as const;

describe("the connection's state machine", () => {
  for (const state of CONNECTION_STATES) {
    for (const event of CONNECTION_EVENTS) {
      const rows = TRANSITIONS.filter((row) => row.from === state && row.event === event);
      const [row] = rows;
      if (row === undefined) {
        it(`refuses "${event}" while ${state}`, () => {
          const error = thrownBy(() => transition(state, event));
          expect(McpError.is(error) && error.kind).toBe("internal_error");
          expect((error as Error).message).toContain(state);
          expect((error as Error).message).toContain(event);
        });
      } else {
        it(`goes from ${state} by "${event}" to ${row.to}, by exactly one row`, () => {
          expect(rows).toHaveLength(1);
          expect(transition(state, event)).toBe(row.to);
        });
      }
    }
  }

  it("reaches every state from disconnected", () => {
    const seen = new Set<string>(["disconnected"]);
    for (let round = 0; round < CONNECTION_STATES.length; round++) {
      for (const row of TRANSITIONS) if (seen.has(row.from)) seen.add(row.to);
    }
    expect([...seen].sort()).toEqual([...CONNECTION_STATES].sort());
  });

  it("can close from every state and never leaves closed", () => {
    for (const state of CONNECTION_STATES) expect(transition(state, "close")).toBe("closed");
    for (const row of TRANSITIONS) if (row.from === "closed") expect(row.to).toBe("closed");
  });
});

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
