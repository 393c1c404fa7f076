import { useEffect, useRef } from "preact/hooks";
import { act } from "../backend/act.js";
import { inspectorState } from "../backend/page-state.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";
import { CallArea } from "./call-area.js";
import { OfferHead } from "./offer-head.js";
import { isRunKey, type PanelProps, usePanelCalls } from "./panel-props.js";
import { RunButton } from "./run-button.js";
import { useCachedState } from "./use-cached-state.js";

/** A resource: its contents and its subscription. */
export function ResourcePanel({ connection, name, summary, offer, onRead }: PanelProps) {
  const calls = usePanelCalls(connection.id, `resource ${name}`);
  const isReady = connection.status === "ready";
  const read = () => {
    if (isReady) calls.start({ kind: "resource", uri: name });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the whole panel; its button does the same
    <div class="use-panel" onKeyDown={(event) => isRunKey(event) && read()}>
      <OfferHead {...{ name, summary, offer }} />
      <div class="use-actions">
        <RunButton title="Read" disabled={!isReady} busy={calls.busy} onRun={read} />
        <SubscribeControls connection={connection.id} uri={name} isReady={isReady} busy={calls.busy} read={read} />
      </div>
      {calls.problem !== undefined && <ProblemNote problem={calls.problem} />}
      <CallArea
        connection={connection.id}
        kind="resource"
        name={name}
        shown={calls.shown}
        onShow={calls.show}
        onRead={onRead}
      />
    </div>
  );
}

interface SubscribeControlsProps {
  readonly connection: string;
  readonly uri: string;
  readonly isReady: boolean;
  /** True while a read is being started. */
  readonly busy: boolean;
  readonly read: () => void;
}

/**
 * Subscribes to a resource and counts its updates. Reads the resource again after each update, unless the user turns
 * this off.
 */
export function SubscribeControls({ connection, uri, isReady, busy, read }: SubscribeControlsProps) {
  const { run, busy: isChanging, problem } = useAction();
  const [rereads, setRereads] = useCachedState(`rereads ${connection} ${uri}`, () => true);
  const subscription = inspectorState.value?.subscriptions.find(
    (each) => each.connection === connection && each.uri === uri,
  );
  const updates = subscription?.updates;
  const isReading =
    busy ||
    inspectorState.value?.calls.some(
      (call) =>
        call.status === "running" && call.connection === connection && call.kind === "resource" && call.name === uri,
    );
  const readAt = useRef(updates);
  useEffect(() => {
    if (!rereads || updates === undefined || readAt.current === undefined) readAt.current = updates;
    // Reads one after the other: an update during a read triggers another read afterwards.
    else if (updates > readAt.current && isReading !== true) {
      readAt.current = updates;
      read();
    }
  }, [updates, isReading]);
  const change = () =>
    isChanging || run(() => act(subscription === undefined ? "subscribe" : "unsubscribe", { connection, uri }));
  return (
    <>
      <button
        type="button"
        disabled={!isReady}
        aria-disabled={isChanging}
        aria-pressed={subscription !== undefined}
        onClick={change}
      >
        {subscription === undefined ? "Subscribe" : "Unsubscribe"}
      </button>
      {subscription !== undefined && (
        <>
          <output class="soft">{updates === 1 ? "1 update" : `${updates ?? 0} updates`}</output>
          <label>
            <input type="checkbox" checked={rereads} onChange={(event) => setRereads(event.currentTarget.checked)} />{" "}
            Read again on every update
          </label>
        </>
      )}
      {problem !== undefined && <ProblemNote problem={problem} />}
    </>
  );
}
