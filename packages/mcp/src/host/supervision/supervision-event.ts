import type { ChildEvent, ChildState } from "./child-state.js";
import type { SupervisorEvent, SupervisorState } from "./supervisor-state.js";

interface Happened {
  /** The names of the supervisors from the outermost to this one, joined by `/`. */
  readonly supervisor: string;
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
}

/** A child took a step of `CHILD_TRANSITIONS`. */
export interface ChildChanged extends Happened {
  readonly type: "child";
  readonly child: string;
  readonly from: ChildState;
  readonly event: ChildEvent;
  readonly to: ChildState;
  /** Why it ended, after `crash`, `finish` and `exceed`. */
  readonly reason?: string;
  readonly error?: unknown;
  /** How often it was started after the first time. */
  readonly restarts: number;
}

/** A supervisor took a step of `SUPERVISOR_TRANSITIONS`. */
export interface SupervisorChanged extends Happened {
  readonly type: "supervisor";
  readonly from: SupervisorState;
  readonly event: SupervisorEvent;
  readonly to: SupervisorState;
  /** Why it ends. */
  readonly reason?: string;
  readonly error?: unknown;
}

/** A start or a stop did not end in time, and nobody waits for it any longer. An instance that still comes of it is stopped. */
export interface LeftBehind extends Happened {
  readonly type: "left_behind";
  readonly child: string;
  readonly what: "start" | "stop";
  readonly afterMs: number;
}

/** All that a supervisor tells of, by `type`. */
export type SupervisionEvent = ChildChanged | SupervisorChanged | LeftBehind;

/** What can be listened to: one type of event, or `any`. */
export interface SupervisionEvents {
  child: ChildChanged;
  supervisor: SupervisorChanged;
  left_behind: LeftBehind;
  any: SupervisionEvent;
}
