import type { ChildExit } from "./child-spec.js";
import type { SupervisionEvent } from "./supervision-event.js";
import type { SupervisorState } from "./supervisor-state.js";
import type { SupervisorTree } from "./supervisor-tree.js";

/** Marks supervisors, also those of another copy of the package. */
export const NESTED: unique symbol = Symbol.for("@parley/mcp/supervisor") as never;

/** What a supervisor needs of one that is its child. */
export interface NestedSupervisor {
  readonly [NESTED]: true;
  readonly state: SupervisorState;
  readonly ended: Promise<ChildExit>;
  /** How long `close` takes at most. */
  readonly stopBoundMs: number;
  start(): Promise<void>;
  close(): Promise<void>;
  tree(): SupervisorTree;
  child(...path: string[]): unknown;
  on(type: "any", listener: (event: SupervisionEvent) => void): () => void;
}

/** Whether a child is a supervisor itself. */
export function isNestedSupervisor(value: unknown): value is NestedSupervisor {
  return typeof value === "object" && value !== null && NESTED in value;
}
