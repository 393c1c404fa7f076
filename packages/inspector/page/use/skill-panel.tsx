import { ProblemNote } from "../parts/problem-note.js";
import { CallArea } from "./call-area.js";
import { OfferHead } from "./offer-head.js";
import { isRunKey, type PanelProps, usePanelCalls } from "./panel-props.js";
import { RunButton } from "./run-button.js";

/** A skill, and its text and files after loading. */
export function SkillPanel({ connection, name, summary, offer, onRead }: PanelProps) {
  const calls = usePanelCalls(connection.id, `skill ${name}`);
  const isReady = connection.status === "ready";
  const load = () => {
    if (isReady) calls.start({ kind: "skill", name });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the whole panel; its button does the same
    <div class="use-panel" onKeyDown={(event) => isRunKey(event) && load()}>
      <OfferHead {...{ name, summary, offer }} />
      <div class="use-actions">
        <RunButton title="Load with files" disabled={!isReady} busy={calls.busy} onRun={load} />
      </div>
      {calls.problem !== undefined && <ProblemNote problem={calls.problem} />}
      <CallArea
        connection={connection.id}
        kind="skill"
        name={name}
        shown={calls.shown}
        onShow={calls.show}
        onRead={onRead}
      />
    </div>
  );
}
