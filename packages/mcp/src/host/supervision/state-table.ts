import { McpError } from "../../protocol/error.js";

/** One allowed step of a state machine. */
export interface Step<State extends string, Event extends string> {
  readonly from: State;
  readonly event: Event;
  readonly to: State;
  /** When it happens, as the documentation says it. */
  readonly when: string;
}

/** The state after `event`. Throws `internal_error` for a step that is not in the table: that is a bug in the caller. */
export function stateAfter<State extends string, Event extends string>(
  table: readonly Step<State, Event>[],
  what: string,
  state: State,
  event: Event,
): State {
  for (const row of table) if (row.from === state && row.event === event) return row.to;
  throw new McpError("internal_error", `${what} that is ${state} cannot take the event "${event}"`, {
    fix: "Report this as a bug of the library, with what the program did just before.",
    data: { state, event },
  });
}
