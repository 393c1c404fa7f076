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
function stateAfter<State extends string, Event extends string>(
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

/** Where a child of a supervisor stands. */
export type ChildState = "waiting" | "starting" | "running" | "stopping" | "stopped" | "ended" | "failed";

/** What moves a child from one state to the next. */
export type ChildEvent = "start" | "started" | "crash" | "finish" | "exceed" | "stop" | "wait" | "stopped";

/** Every step a child can take; what is not listed here cannot happen. A child begins as `waiting`. */
export const CHILD_TRANSITIONS: readonly Step<ChildState, ChildEvent>[] = [
  { from: "waiting", event: "start", to: "starting", when: "its turn has come, or its back-off is over" },
  { from: "waiting", event: "stop", to: "stopped", when: "it is stopped before it is started" },
  { from: "starting", event: "started", to: "running", when: "`start` gave its value" },
  { from: "starting", event: "crash", to: "waiting", when: "`start` failed or took too long, and is tried again" },
  { from: "starting", event: "finish", to: "ended", when: "`start` failed, and its policy allows no other" },
  { from: "starting", event: "exceed", to: "failed", when: "`start` failed once more than the intensity allows" },
  { from: "starting", event: "stop", to: "stopping", when: "nobody wants it any more; the signal is aborted" },
  { from: "running", event: "crash", to: "waiting", when: "it ended, and is started again" },
  { from: "running", event: "finish", to: "ended", when: "it ended, and its policy lets it rest" },
  { from: "running", event: "exceed", to: "failed", when: "it ended once more than the intensity allows" },
  { from: "running", event: "stop", to: "stopping", when: "it is stopped, by a call or with its group" },
  { from: "stopping", event: "wait", to: "waiting", when: "it is gone, and is started again with its group" },
  { from: "stopping", event: "stopped", to: "stopped", when: "it is gone, or was left behind after `stopMs`" },
  { from: "stopped", event: "start", to: "starting", when: "`restartChild` is called" },
  { from: "ended", event: "start", to: "starting", when: "`restartChild` is called" },
  { from: "failed", event: "start", to: "starting", when: "`retryMs` have passed, or `restartChild` is called" },
  { from: "failed", event: "stop", to: "stopped", when: "it is stopped while it is held" },
];

/** The state of a child after `event`. Throws `internal_error` for a step that is not in the table. */
export function childStateAfter(state: ChildState, event: ChildEvent): ChildState {
  return stateAfter(CHILD_TRANSITIONS, "a child", state, event);
}

/** Where a supervisor stands. */
export type SupervisorState = "new" | "starting" | "running" | "stopping" | "ended";

/** What moves a supervisor from one state to the next. */
export type SupervisorEvent = "start" | "started" | "escalate" | "close" | "stopped";

/** Every step a supervisor can take; what is not listed here cannot happen. */
export const SUPERVISOR_TRANSITIONS: readonly Step<SupervisorState, SupervisorEvent>[] = [
  { from: "new", event: "start", to: "starting", when: "`start` is called; children start in their order" },
  { from: "new", event: "close", to: "stopping", when: "it is closed before it was started" },
  { from: "starting", event: "started", to: "running", when: "every child was started" },
  { from: "starting", event: "escalate", to: "stopping", when: "children failed more often than the intensity allows" },
  { from: "starting", event: "close", to: "stopping", when: "it is closed during the start" },
  { from: "running", event: "escalate", to: "stopping", when: "children failed more often than the intensity allows" },
  { from: "running", event: "close", to: "stopping", when: "it is closed" },
  { from: "stopping", event: "stopped", to: "ended", when: "every child is gone or was left behind" },
];

/** The state of a supervisor after `event`. Throws `internal_error` for a step that is not in the table. */
export function supervisorStateAfter(state: SupervisorState, event: SupervisorEvent): SupervisorState {
  return stateAfter(SUPERVISOR_TRANSITIONS, "a supervisor", state, event);
}
