import { printable } from "@parley/mcp/protocol";
import { useMemo, useState } from "preact/hooks";
import { SchemaForm } from "../forms/schema-form.js";
import { ProblemNote } from "../parts/problem-note.js";
import { CallArea } from "./call-area.js";
import { OfferHead } from "./offer-head.js";
import { isRunKey, type PanelProps, usePanelCalls } from "./panel-props.js";
import { SubscribeControls } from "./resource-panel.js";
import { RunButton } from "./run-button.js";
import { templateUri, templateVariables } from "./template-uri.js";
import { textSchema, textValues, useTextCompletion } from "./text-arguments.js";
import { useCachedState } from "./use-cached-state.js";

/** A resource template: its variables with completion, the resulting URI, and the resource. */
export function TemplatePanel({ connection, name, summary, offer, onRead }: PanelProps) {
  const schema = useMemo(
    () =>
      textSchema(templateVariables(name).map((variable) => ({ name: variable.name, required: !variable.optional }))),
    [name],
  );
  const [value, setValue] = useCachedState<unknown>(`value ${connection.id} template ${name}`, () => ({}));
  const complete = useTextCompletion(connection.id, { template: name }, value);
  const uri = templateUri(name, textValues(value));
  const calls = usePanelCalls(connection.id, `template ${name}`);
  const [broken, setBroken] = useState(false);
  const isReady = connection.status === "ready" && !broken;
  const read = () => {
    if (isReady) calls.start({ kind: "resource", uri });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the whole panel; its button does the same
    <div class="use-panel" onKeyDown={(event) => isRunKey(event) && read()}>
      <OfferHead {...{ name, summary, offer }} />
      <SchemaForm
        {...{ schema, value, complete }}
        onChange={setValue}
        checks={calls.tried}
        idPrefix={`template-${connection.id}`}
        onBroken={setBroken}
      />
      <p>
        URI: <code class="use-address">{printable(uri)}</code>
      </p>
      <div class="use-actions">
        <RunButton title="Read" disabled={!isReady} busy={calls.busy} onRun={read} />
        <SubscribeControls
          key={uri}
          connection={connection.id}
          uri={uri}
          isReady={isReady}
          busy={calls.busy}
          read={read}
        />
      </div>
      {calls.problem !== undefined && <ProblemNote problem={calls.problem} />}
      <CallArea
        connection={connection.id}
        kind="resource"
        name={uri}
        shown={calls.shown}
        onShow={calls.show}
        onRead={onRead}
      />
    </div>
  );
}
