import { printable } from "@parley/mcp/protocol";
import { useEffect, useState } from "preact/hooks";
import type { CallInfo } from "../../src/contract/calls.js";
import { act } from "../backend/act.js";
import { inspectorStatus } from "../backend/page-state.js";
import { formatMs } from "../parts/format-ms.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";

/** Maximum number of calls in `firstSeen`. Beyond it, the oldest is evicted. */
const MAX_SEEN_CALLS = 500;
/**
 * The time at which the page first saw each running call. The elapsed time is counted from it, because the start time
 * from the inspector is from another clock.
 */
const firstSeen = new Map<string, number>();

function seenSince(call: string): number {
  const known = firstSeen.get(call) ?? performance.now();
  if (!firstSeen.has(call)) firstSeen.set(call, known);
  const [oldest] = firstSeen.keys();
  if (firstSeen.size > MAX_SEEN_CALLS && oldest !== undefined) firstSeen.delete(oldest);
  return known;
}

/** Interval at which the elapsed time is updated. */
const TICK_MS = 250;

function useElapsed(call: string): number {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, now - seenSince(call));
}

interface RunningCallProps {
  readonly call: CallInfo;
}

/** A running call: its progress, its elapsed time and a cancel button. */
export function RunningCall({ call }: RunningCallProps) {
  // A tab that shows a call had access to the inspector. If the tab is refused now, that inspector has ended, and
  // another inspector uses its port.
  const isEnded = inspectorStatus.value === "gone" || inspectorStatus.value === "refused";
  if (!isEnded) return <Progress call={call} />;
  return <p class="use-running">The inspector stopped while this call was running.</p>;
}

function Progress({ call }: RunningCallProps) {
  const elapsed = useElapsed(call.id);
  const { run, busy, problem } = useAction();
  const { progress, task } = call;
  const label = `Progress of ${printable(call.name)}`;
  const total = progress?.total;
  const hasTotal = progress !== undefined && total !== undefined && total > 0;
  return (
    <div class="use-running">
      <div class="use-running-row">
        {hasTotal ? (
          <progress aria-label={label} value={Math.min(progress.progress, total)} max={total} />
        ) : (
          <progress aria-label={label} />
        )}
        <span class="soft">{formatMs(Math.round(elapsed / TICK_MS) * TICK_MS)}</span>
        <button
          type="button"
          aria-disabled={busy}
          onClick={() => busy || run(() => act("cancelCall", { call: call.id }))}
        >
          Cancel
        </button>
      </div>
      {progress !== undefined && (
        <p>
          {hasTotal ? `${progress.progress} of ${total}` : `${progress.progress}`} {printable(progress.message ?? "")}
        </p>
      )}
      {task !== undefined && (
        <p>
          Task <code>{printable(task.id)}</code>: {printable(task.status)}
          {task.message !== undefined && ` · ${printable(task.message)}`}
        </p>
      )}
      {problem !== undefined && <ProblemNote problem={problem} />}
    </div>
  );
}
