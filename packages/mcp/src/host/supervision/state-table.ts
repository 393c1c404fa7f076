import { McpError } from "../../protocol/error.js";

/** One allowed transition of a state machine. */
export interface Step<State extends string, Event extends string> {
  /** The state before. */
  readonly from: State;
  /** The event that causes the transition. */
  readonly event: Event;
  /** The state after. */
  readonly to: State;
  /** The situation in which the transition happens, as the documentation shows it. */
  readonly when: string;
}

/**
 * Returns the state after `event`. Throws `internal_error` for a transition that is not in the table, which is a bug in
 * the caller.
 */
function stateAfter<State extends string, Event extends string>(
  table: readonly Step<State, Event>[],
  what: string,
  state: State,
  event: Event,
): State {
  for (const row of table) if (row.from === state && row.event === event) return row.to;
  throw new McpError("internal_error", `${what} in the state "${state}" cannot handle the event "${event}"`, {
    fix: "Report this as a bug in the library, with the steps that led to it.",
    data: { state, event },
  });
}

/** The state of a supervised child. */
export type ChildState = "waiting" | "starting" | "running" | "stopping" | "stopped" | "ended" | "failed";

/** The event that moves a child to its next state. */
export type ChildEvent = "start" | "started" | "crash" | "finish" | "exceed" | "stop" | "wait" | "stopped";

/** Every transition of a child; no others happen. A child begins as `waiting`. */
export const CHILD_TRANSITIONS: readonly Step<ChildState, ChildEvent>[] = [
  { from: "waiting", event: "start", to: "starting", when: "its turn has come, or its back-off has passed" },
  { from: "waiting", event: "stop", to: "stopped", when: "it is stopped before it is started" },
  { from: "starting", event: "started", to: "running", when: "`start` returned its value" },
  { from: "starting", event: "crash", to: "waiting", when: "`start` failed or timed out, and is tried again" },
  { from: "starting", event: "finish", to: "ended", when: "`start` failed, and its policy allows no restart" },
  { from: "starting", event: "exceed", to: "failed", when: "`start` failed once more than the intensity allows" },
  { from: "starting", event: "stop", to: "stopping", when: "it is stopped; its signal is aborted" },
  { from: "running", event: "crash", to: "waiting", when: "it ended, and is restarted" },
  { from: "running", event: "finish", to: "ended", when: "it ended, and its policy allows no restart" },
  { from: "running", event: "exceed", to: "failed", when: "it ended once more than the intensity allows" },
  { from: "running", event: "stop", to: "stopping", when: "it is stopped, by a call or with its group" },
  { from: "stopping", event: "wait", to: "waiting", when: "it has ended, and is restarted with its group" },
  { from: "stopping", event: "stopped", to: "stopped", when: "it has ended, or was left behind after `stopMs`" },
  { from: "stopped", event: "start", to: "starting", when: "`restartChild` is called" },
  { from: "ended", event: "start", to: "starting", when: "`restartChild` is called" },
  { from: "failed", event: "start", to: "starting", when: "`retryMs` have passed, or `restartChild` is called" },
  { from: "failed", event: "stop", to: "stopped", when: "it is stopped while it has failed" },
];

/** Returns the state of a child after `event`. Throws `internal_error` for a transition that is not in the table. */
export function childStateAfter(state: ChildState, event: ChildEvent): ChildState {
  return stateAfter(CHILD_TRANSITIONS, "a child", state, event);
}

/** The state of a supervisor. */
export type SupervisorState = "new" | "starting" | "running" | "stopping" | "ended";

/** The event that moves a supervisor to its next state. */
export type SupervisorEvent = "start" | "started" | "escalate" | "close" | "stopped";

/** Every transition of a supervisor; no others happen. A supervisor begins as `new`. */
export const SUPERVISOR_TRANSITIONS: readonly Step<SupervisorState, SupervisorEvent>[] = [
  { from: "new", event: "start", to: "starting", when: "`start` is called; children start in their order" },
  { from: "new", event: "close", to: "stopping", when: "it is closed before it was started" },
  { from: "starting", event: "started", to: "running", when: "every child has started" },
  { from: "starting", event: "escalate", to: "stopping", when: "children failed more often than the intensity allows" },
  { from: "starting", event: "close", to: "stopping", when: "it is closed during its start" },
  { from: "running", event: "escalate", to: "stopping", when: "children failed more often than the intensity allows" },
  { from: "running", event: "close", to: "stopping", when: "it is closed" },
  { from: "stopping", event: "stopped", to: "ended", when: "every child has ended or was left behind" },
];

/**
 * Returns the state of a supervisor after `event`. Throws `internal_error` for a transition that is not in the table.
 */
export function supervisorStateAfter(state: SupervisorState, event: SupervisorEvent): SupervisorState {
  return stateAfter(SUPERVISOR_TRANSITIONS, "a supervisor", state, event);
}
