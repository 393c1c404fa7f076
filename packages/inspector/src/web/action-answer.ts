import type { ActionName } from "../contract/actions.js";
import type { InspectorEngine } from "../engine/inspector-engine.js";
import { shownProblem } from "../engine/shown-problem.js";

/** Finds an action by the name in a path. Names that every object has, such as `constructor`, are none. */
export function actionNamed(engine: InspectorEngine, name: string): ActionName | undefined {
  // The handlers have exactly the names of the actions as members of their own.
  return Object.hasOwn(engine.handlers, name) ? (name as ActionName) : undefined;
}

/** Does an action, and gives its `ActionAnswer` as JSON; a failure is an answer too. */
export async function answerAction(
  engine: InspectorEngine,
  name: ActionName,
  input: Readonly<Record<string, unknown>>,
): Promise<string> {
  try {
    // Handlers check what they read: the input is whatever the page sent.
    const value: unknown = await engine.handlers[name](input as never);
    return JSON.stringify({ ok: true, value: value ?? {} });
  } catch (reason) {
    return JSON.stringify({ ok: false, problem: shownProblem(reason) });
  }
}
