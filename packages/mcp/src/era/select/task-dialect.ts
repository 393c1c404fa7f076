import { featuresOf, type Revision, type RevisionFeatures } from "../../protocol/revisions.js";
import { STATEFUL_TASKS, WITHOUT_TASKS } from "../stateful/tasks.js";
import { STATELESS_TASKS } from "../stateless/tasks.js";
import type { TaskDialect } from "../task-shape.js";

const DIALECTS: Readonly<Record<RevisionFeatures["tasks"], TaskDialect>> = {
  none: WITHOUT_TASKS,
  experimental: STATEFUL_TASKS,
  extension: STATELESS_TASKS,
};

/** The behaviour of tasks in a revision. */
export function taskDialect(revision: Revision): TaskDialect {
  return DIALECTS[featuresOf(revision).tasks];
}
