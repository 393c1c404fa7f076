import { printableLine } from "../../encoding/printable.js";
import type { ChildExit, RestartPolicy } from "./child-spec.js";
import type { ChildState, SupervisorState } from "./state-table.js";
import type { SupervisionEvent } from "./supervision-event.js";

/**
 * The children that are restarted when one ends: only that child (`one_for_one`), all (`one_for_all`), or that child
 * and those after it (`rest_for_one`).
 */
export type SupervisionStrategy = "one_for_one" | "one_for_all" | "rest_for_one";

/** The state of a child, as plain data. */
export interface ChildStatus {
  /** The id of the child, unique within its supervisor. */
  readonly id: string;
  /** The current state; see `CHILD_TRANSITIONS`. */
  readonly state: ChildState;
  /** The restart policy of the child. */
  readonly restart: RestartPolicy;
  /** Number of starts after the first one. */
  readonly restarts: number;
  /** Milliseconds since the start of the running instance; absent unless the child is `running`. */
  readonly uptimeMs?: number;
  /** The reason why the child last ended by itself or could not be started; absent if neither has happened. */
  readonly reason?: string;
  /** The tree below a child that is a supervisor. */
  readonly supervisor?: SupervisorTree;
}

/** A supervisor with everything below it, as plain data. */
export interface SupervisorTree {
  /** The name of the supervisor. */
  readonly name: string;
  /** The current state; see `SUPERVISOR_TRANSITIONS`. */
  readonly state: SupervisorState;
  /** The strategy of the supervisor. */
  readonly strategy: SupervisionStrategy;
  /** The children, in the order of their start. */
  readonly children: readonly ChildStatus[];
}

/**
 * Formats a tree as text, with one line for each supervisor and child.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/host.md | The host: many servers as one}
 */
export function printTree(tree: SupervisorTree): string {
  return [`${printableLine(tree.name)} (${tree.strategy}) ${tree.state}`, ...linesOf(tree, "")].join("\n");
}

function linesOf(tree: SupervisorTree, indent: string): string[] {
  return tree.children.flatMap((child, at) => {
    const last = at === tree.children.length - 1;
    const line = `${indent}${last ? "└─" : "├─"} ${describeChild(child)}`;
    return [
      line,
      ...(child.supervisor === undefined ? [] : linesOf(child.supervisor, `${indent}${last ? "   " : "│  "}`)),
    ];
  });
}

function describeChild({ id, state, restarts, uptimeMs, reason, supervisor }: ChildStatus): string {
  const details = [
    uptimeMs === undefined ? "" : `up ${duration(uptimeMs)}`,
    restarts === 0 ? "" : `${restarts} ${restarts === 1 ? "restart" : "restarts"}`,
    reason === undefined ? "" : `last end: ${printableLine(reason)}`,
  ].filter((detail) => detail !== "");
  const strategy = supervisor === undefined ? "" : ` (${supervisor.strategy})`;
  return [`${printableLine(id)}${strategy} ${state}`, ...details].join(", ");
}

function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** Marks supervisors, including those of another copy of the package. */
export const NESTED: unique symbol = Symbol.for("@parley/mcp/supervisor") as never;

/** The part of a supervisor that its parent supervisor uses. */
export interface NestedSupervisor {
  readonly [NESTED]: true;
  readonly state: SupervisorState;
  readonly ended: Promise<ChildExit>;
  /** Maximum number of milliseconds that `close` takes. */
  readonly stopBoundMs: number;
  start(): Promise<void>;
  close(): Promise<void>;
  tree(): SupervisorTree;
  child(...path: string[]): unknown;
  on(type: "any", listener: (event: SupervisionEvent) => void): () => void;
}

/** True if a child is itself a supervisor. */
export function isNestedSupervisor(value: unknown): value is NestedSupervisor {
  return typeof value === "object" && value !== null && NESTED in value;
}
