import { printableLine } from "../../encoding/printable.js";
import type { ChildExit, RestartPolicy } from "./child-spec.js";
import type { ChildState, SupervisorState } from "./state-table.js";
import type { SupervisionEvent } from "./supervision-event.js";

/** Whom the end of a child affects: itself; all children; itself and those after it. */
export type SupervisionStrategy = "one_for_one" | "one_for_all" | "rest_for_one";

/** What a supervisor knows of a child, as plain data. */
export interface ChildStatus {
  readonly id: string;
  readonly state: ChildState;
  readonly restart: RestartPolicy;
  /** How often it was started after the first time. */
  readonly restarts: number;
  /** How long it has been running; absent unless it runs. */
  readonly uptimeMs?: number;
  /** Why it last ended by itself, or could not be started. */
  readonly reason?: string;
  /** The tree of a child that is a supervisor. */
  readonly supervisor?: SupervisorTree;
}

/** A supervisor and all below it, as plain data. */
export interface SupervisorTree {
  readonly name: string;
  readonly state: SupervisorState;
  readonly strategy: SupervisionStrategy;
  readonly children: readonly ChildStatus[];
}

/** The tree as text for people, one line for each supervisor and child. */
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
