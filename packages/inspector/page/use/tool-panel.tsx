import { useState } from "preact/hooks";
import type { CallRequest } from "../../src/contract/calls.js";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import type { OfferDetail } from "../../src/contract/offers.js";
import { initialValue } from "../forms/model/initial-value.js";
import { isJsonObject } from "../forms/model/json-members.js";
import { SchemaForm } from "../forms/schema-form.js";
import { ProblemNote } from "../parts/problem-note.js";
import { membersIn } from "../results/content-view.js";
import { AppFrame } from "./app/app-frame.js";
import { CallArea } from "./call-area.js";
import { OfferHead } from "./offer-head.js";
import { isRunKey, type PanelProps, usePanelCalls } from "./panel-props.js";
import { RunButton } from "./run-button.js";
import { useCachedState } from "./use-cached-state.js";

/** A tool: its form, its calls and their results. */
export function ToolPanel({ connection, name, summary, offer, onRead }: PanelProps) {
  const { definition } = offer;
  const schema = definition["inputSchema"];
  const about = `tool ${name}`;
  const [value, setValue] = useCachedState<unknown>(
    `value ${connection.id} ${about}`,
    () => initialValue(schema, schema) ?? {},
  );
  const taskSupport = taskSupportOf(connection, definition);
  const [wantsTask, setWantsTask] = useCachedState(`task ${connection.id} ${about}`, () => false);
  const calls = usePanelCalls(connection.id, about);
  const asTask = taskSupport === "required" || (wantsTask && taskSupport === "optional");
  const [broken, setBroken] = useState(false);
  const isReady = connection.status === "ready" && isJsonObject(value) && !broken;
  const start = () => {
    if (isReady) calls.start({ kind: "tool", name, arguments: value, asTask });
  };
  const again = (request: CallRequest) => request.kind === "tool" && setValue(request.arguments);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the whole panel; its button does the same
    <div class="use-panel" onKeyDown={(event) => isRunKey(event) && start()}>
      <OfferHead {...{ name, summary, offer }} />
      <SchemaForm
        schema={schema}
        value={value}
        onChange={setValue}
        checks={calls.tried}
        idPrefix={`tool-${connection.id}`}
        onBroken={setBroken}
      />
      {!isJsonObject(value) && <p class="forms-issue">Arguments must be a JSON object.</p>}
      <div class="use-actions">
        <RunButton title="Run" disabled={!isReady} busy={calls.busy} onRun={start} />
        {taskSupport !== undefined && (
          <label>
            <input
              type="checkbox"
              checked={asTask}
              disabled={taskSupport === "required"}
              onChange={(event) => setWantsTask(event.currentTarget.checked)}
            />{" "}
            Run as a task
          </label>
        )}
      </div>
      {calls.problem !== undefined && <ProblemNote problem={calls.problem} />}
      <CallArea
        connection={connection.id}
        kind="tool"
        name={name}
        shown={calls.shown}
        onShow={calls.show}
        onAgain={again}
        onRead={onRead}
        more={(outcome) =>
          summary?.marks.includes("app") && <AppFrame key={outcome.call.id} {...{ connection, definition, outcome }} />
        }
      />
    </div>
  );
}

const TASKS = "io.modelcontextprotocol/tasks";

/**
 * The task support of a tool: optional, required or undefined (none). If the tool declares nothing and the server has
 * the tasks extension, the server decides itself, so tasks are optional.
 */
function taskSupportOf({ capabilities }: ConnectionInfo, definition: OfferDetail["definition"]) {
  const { taskSupport } = membersIn(definition["execution"]);
  if (taskSupport === "optional" || taskSupport === "required") return taskSupport;
  if (taskSupport === "forbidden") return undefined;
  return Object.hasOwn(membersIn(capabilities["extensions"]), TASKS) ? "optional" : undefined;
}
