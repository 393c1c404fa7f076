export type { ChildExit, ChildSpec, RestartPolicy } from "./host/supervision/child-spec.js";
export type { Step } from "./host/supervision/state-table.js";
export {
  CHILD_TRANSITIONS,
  type ChildEvent,
  type ChildState,
  SUPERVISOR_TRANSITIONS,
  type SupervisorEvent,
  type SupervisorState,
} from "./host/supervision/state-table.js";
export {
  type ApplicationOptions,
  type ApplicationTiers,
  superviseApplication,
} from "./host/supervision/supervise-application.js";
export type {
  ChildChanged,
  LeftBehind,
  SupervisionEvent,
  SupervisionEvents,
  SupervisorChanged,
} from "./host/supervision/supervision-event.js";
export { Supervisor } from "./host/supervision/supervisor.js";
export type {
  RestartBackOff,
  RestartIntensity,
  RestartOptions,
  SupervisorOptions,
} from "./host/supervision/supervisor-options.js";
export {
  type ChildStatus,
  printTree,
  type SupervisionStrategy,
  type SupervisorTree,
} from "./host/supervision/supervisor-tree.js";
