import { describe, expect, it } from "vitest";
import { McpError } from "../../protocol/error.js";
import {
  CHILD_TRANSITIONS,
  childStateAfter,
  type Step,
  SUPERVISOR_TRANSITIONS,
  supervisorStateAfter,
} from "./state-table.js";

const CHILD = {
  what: "child",
  table: CHILD_TRANSITIONS,
  after: childStateAfter,
  first: "waiting",
  states: ["waiting", "starting", "running", "stopping", "stopped", "ended", "failed"],
  events: ["start", "started", "crash", "finish", "exceed", "stop", "wait", "stopped"],
};
const SUPERVISOR = {
  what: "supervisor",
  table: SUPERVISOR_TRANSITIONS,
  after: supervisorStateAfter,
  first: "new",
  states: ["new", "starting", "running", "stopping", "ended"],
  events: ["start", "started", "escalate", "close", "stopped"],
};

describe.each([CHILD, SUPERVISOR])("the states of a $what", ({ what, table, after, first, states, events }) => {
  const rows: readonly Step<string, string>[] = table;
  // Safe: the names above are those of the types, and the function refuses all others.
  const next = after as (state: string, event: string) => string;
  for (const state of states) {
    for (const event of events) {
      const found = rows.filter((row) => row.from === state && row.event === event);
      const [row] = found;
      if (row === undefined) {
        it(`refuse "${event}" while ${state}`, () => {
          expect(() => next(state, event)).toThrow(
            `a ${what} in the state "${state}" cannot handle the event "${event}"`,
          );
          try {
            next(state, event);
          } catch (error) {
            expect(McpError.is(error) && error.kind).toBe("internal_error");
          }
        });
      } else {
        it(`go from ${state} by "${event}" to ${row.to}, by exactly one row`, () => {
          expect(found).toHaveLength(1);
          expect(next(state, event)).toBe(row.to);
        });
      }
    }
  }

  it("are all reached from the first, by rows that name them", () => {
    const seen = new Set([first]);
    for (const _ of states) for (const row of rows) if (seen.has(row.from)) seen.add(row.to);
    expect([...seen].sort()).toEqual(states.toSorted());
    expect(new Set(rows.map(({ event }) => event))).toEqual(new Set(events));
    for (const row of rows) expect([...states, ...states]).toEqual(expect.arrayContaining([row.from, row.to]));
  });
});
