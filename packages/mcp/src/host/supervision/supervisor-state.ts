import { type Step, stateAfter } from "./state-table.js";

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
