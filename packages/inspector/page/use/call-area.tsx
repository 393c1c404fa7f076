import { printable } from "@parley/mcp/protocol";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { CallInfo, CallOutcome, CallRequest } from "../../src/contract/calls.js";
import { inspectorState } from "../backend/page-state.js";
import { formatMs } from "../parts/format-ms.js";
import { ProblemNote } from "../parts/problem-note.js";
import { ResultView } from "../results/result-view.js";
import { CallMessages } from "./call-messages.js";
import { useOutcome } from "./call-outcomes.js";
import { RunningCall } from "./running-call.js";

interface CallAreaProps {
  readonly connection: string;
  readonly kind: CallRequest["kind"];
  /** The tool, prompt, URI or skill of the calls. Default: all calls of the kind. */
  readonly name?: string | undefined;
  /** The call whose outcome is shown. Default: the newest call that has ended. */
  readonly shown: string | undefined;
  readonly onShow: (call: string) => void;
  /** Copies the arguments of a call into the form. */
  readonly onAgain?: ((request: CallRequest) => void) | undefined;
  readonly onRead?: ((uri: string) => void) | undefined;
  /** Renders further content below an outcome. */
  readonly more?: ((outcome: CallOutcome) => ComponentChildren) | undefined;
}

/** Maximum number of listed calls. Older calls are omitted. */
const MAX_LISTED_CALLS = 20;

/** The calls of one offer: the running calls, the outcome of the selected call, and the history. */
export function CallArea({ connection, kind, name, shown, onShow, onAgain, onRead, more }: CallAreaProps) {
  const calls = (inspectorState.value?.calls ?? []).filter(
    (call) => call.connection === connection && call.kind === kind && (name === undefined || call.name === name),
  );
  const running = calls.filter(({ status }) => status === "running");
  const chosen = calls.find(({ id }) => id === shown) ?? calls.find(({ status }) => status !== "running");
  const { outcome, problem } = useOutcome(chosen);
  const area = useScrollIntoView(shown, outcome?.call.id);
  if (calls.length === 0) return null;
  return (
    <div class="use-calls" ref={area}>
      {running.map((call) => (
        <RunningCall key={call.id} call={call} />
      ))}
      {problem !== undefined && <ProblemNote problem={problem} />}
      {outcome !== undefined && (
        <>
          <ResultView key={outcome.call.id} outcome={outcome} onRead={onRead}>
            <CallMessages call={outcome.call.id} />
          </ResultView>
          {more?.(outcome)}
        </>
      )}
      <section class="use-history" aria-label="Call history">
        <h3>Call history</h3>
        <ul>
          {calls.slice(0, MAX_LISTED_CALLS).map((call) => (
            <li key={call.id}>
              <button type="button" class="quiet" aria-pressed={call.id === chosen?.id} onClick={() => onShow(call.id)}>
                <CallLine call={call} withName={name === undefined} />
              </button>
            </li>
          ))}
        </ul>
        {outcome !== undefined && onAgain !== undefined && hasArguments(outcome.request) && (
          <button type="button" onClick={() => onAgain(outcome.request)}>
            Reuse these arguments
          </button>
        )}
      </section>
    </div>
  );
}

function hasArguments(request: CallRequest): boolean {
  return !("arguments" in request) || Object.keys(request.arguments).length > 0;
}

/**
 * Scrolls to the calls when another call is shown, and again when its outcome arrives, because forms may be long. Does
 * not scroll in between, so that the user can scroll away while a call runs.
 */
function useScrollIntoView(shown: string | undefined, ended: string | undefined) {
  const area = useRef<HTMLDivElement>(null);
  const reached = useRef({ shown, isEnded: true });
  useEffect(() => {
    const before = reached.current;
    const isEnded = ended === shown;
    if (area.current === null || (before.shown === shown && (before.isEnded || !isEnded))) return;
    reached.current = { shown, isEnded };
    area.current.scrollIntoView({ block: "nearest" });
  });
  return area;
}

const STATUS = { running: "running", done: "done", failed: "failed", cancelled: "cancelled" } as const;

function CallLine({ call, withName }: { readonly call: CallInfo; readonly withName: boolean }) {
  return (
    <>
      <span class={`use-status use-status-${call.status}`}>{STATUS[call.status]}</span>
      {withName && ` ${printable(call.name)}`}
      <span class="soft">
        {" "}
        at {formatMs(call.startedMs)}
        {call.durationMs !== undefined && `, took ${formatMs(call.durationMs)}`}
      </span>
    </>
  );
}
