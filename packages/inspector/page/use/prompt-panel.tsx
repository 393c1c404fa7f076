import { useMemo, useState } from "preact/hooks";
import type { CallRequest } from "../../src/contract/calls.js";
import { SchemaForm } from "../forms/schema-form.js";
import { ProblemNote } from "../parts/problem-note.js";
import { membersIn, textIn } from "../results/content-view.js";
import { CallArea } from "./call-area.js";
import { OfferHead } from "./offer-head.js";
import { isRunKey, type PanelProps, usePanelCalls } from "./panel-props.js";
import { RunButton } from "./run-button.js";
import { textSchema, textValues, useTextCompletion } from "./text-arguments.js";
import { useCachedState } from "./use-cached-state.js";

/** A prompt: its arguments with completion, and its messages. */
export function PromptPanel({ connection, name, summary, offer, onRead }: PanelProps) {
  const about = `prompt ${name}`;
  const schema = useMemo(() => schemaOf(offer.definition), [offer.definition]);
  const [value, setValue] = useCachedState<unknown>(`value ${connection.id} ${about}`, () => ({}));
  const complete = useTextCompletion(connection.id, { prompt: name }, value);
  const calls = usePanelCalls(connection.id, about);
  const [broken, setBroken] = useState(false);
  const isReady = connection.status === "ready" && !broken;
  const start = () => {
    if (isReady) calls.start({ kind: "prompt", name, arguments: textValues(value) });
  };
  const again = (request: CallRequest) => request.kind === "prompt" && setValue(request.arguments);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the whole panel; its button does the same
    <div class="use-panel" onKeyDown={(event) => isRunKey(event) && start()}>
      <OfferHead {...{ name, summary, offer }} />
      <SchemaForm
        {...{ schema, value, complete }}
        onChange={setValue}
        checks={calls.tried}
        idPrefix={`prompt-${connection.id}`}
        onBroken={setBroken}
      />
      <div class="use-actions">
        <RunButton title="Get prompt" disabled={!isReady} busy={calls.busy} onRun={start} />
      </div>
      {calls.problem !== undefined && <ProblemNote problem={calls.problem} />}
      <CallArea
        connection={connection.id}
        kind="prompt"
        name={name}
        shown={calls.shown}
        onShow={calls.show}
        onAgain={again}
        onRead={onRead}
      />
    </div>
  );
}

/** Maximum number of displayed arguments of a prompt. Further arguments are omitted. */
const MAX_ARGUMENTS = 200;

function schemaOf(definition: Readonly<Record<string, unknown>>) {
  const args: readonly unknown[] = Array.isArray(definition["arguments"]) ? definition["arguments"] : [];
  return textSchema(
    args.slice(0, MAX_ARGUMENTS).flatMap((each) => {
      const members = membersIn(each);
      const name = textIn(members, "name");
      if (name === undefined) return [];
      const required = members["required"] === true;
      return [{ name, required, title: textIn(members, "title"), description: textIn(members, "description") }];
    }),
  );
}
