import { nearestName } from "../../encoding/nearest-name.js";
import { McpError } from "../../protocol/error.js";
import type { ChildExit } from "./child-spec.js";
import type { RestartIntensity } from "./restart-pace.js";
import type { SupervisorState } from "./supervisor-state.js";

/** The errors of one supervisor, by what went wrong. */
export class SupervisorErrors {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  unknown(id: string, known: readonly string[]): McpError {
    const meant = nearestName(id, known);
    const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
    return new McpError("misuse", `supervisor "${this.#name}" has no child "${id}"${hint}`, {
      fix: "Use the id of a child that `children()` lists.",
    });
  }

  duplicate(id: string): McpError {
    return new McpError("misuse", `supervisor "${this.#name}" already has a child "${id}"`, {
      fix: "Give each child an id of its own, or remove the other first.",
    });
  }

  tooMany(maxChildren: number): McpError {
    return new McpError("limit_exceeded", `supervisor "${this.#name}" already has ${maxChildren} children`, {
      fix: "Remove children that are not needed, or raise `maxChildren`.",
    });
  }

  over(state: SupervisorState): McpError {
    return new McpError("misuse", `supervisor "${this.#name}" is ${state} and starts nothing any more`, {
      fix: "Make a new supervisor; one that has ended does not come back.",
    });
  }

  notStarted(): McpError {
    return new McpError("misuse", `supervisor "${this.#name}" was not started, so it has nothing to restart`, {
      fix: "Call `start` first; it starts all children.",
    });
  }

  closedEarly(): McpError {
    return new McpError("cancelled", `supervisor "${this.#name}" was closed before all its children worked`);
  }

  /** How a supervisor ends whose children failed too often. */
  exceeded(id: string, { restarts, withinMs }: RestartIntensity, exit: ChildExit): ChildExit {
    const times = `${restarts} ${restarts === 1 ? "restart" : "restarts"}`;
    const reason = `"${id}" failed after ${times} within ${withinMs} ms: ${exit.reason}`;
    const error = new McpError("limit_exceeded", `supervisor "${this.#name}" ended: ${reason}`, {
      fix: "See `cause` for what made the child fail; raise `intensity` only if so many restarts are usual.",
      data: { child: id, restarts, withinMs },
      cause: exit.error,
    });
    return { normal: false, reason, error };
  }
}
