import { printable } from "@parley/mcp/protocol";
import type { RunInfo } from "../../src/contract/sessions.js";
import { act } from "../backend/act.js";
import { inspectorState, inspectorStatus } from "../backend/page-state.js";
import { connectionName } from "../connect/connection-name.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";

/**
 * The progress of the running replay or comparison, with a cancel button. Another tab may have started the run. Renders
 * nothing if there is no run.
 */
export function RunProgress({ kind }: { readonly kind: RunInfo["kind"] }) {
  const run = inspectorState.value?.runs?.find((one) => one.kind === kind);
  const isEnded = inspectorStatus.value === "gone" || inspectorStatus.value === "refused";
  return run === undefined || isEnded ? null : <Progress key={run.id} run={run} />;
}

function Progress({ run }: { readonly run: RunInfo }) {
  const { busy, problem, run: start } = useAction();
  const { id, kind, call, calls, about } = run;
  const connection = inspectorState.value?.connections.find((one) => one.id === run.connection);
  const label = `Progress of the ${kind}`;
  return (
    <div class="keep-run">
      {call === 0 ? <progress aria-label={label} /> : <progress aria-label={label} value={call - 1} max={calls} />}
      <p>
        {call === 0 ? "Connecting" : `Call ${call} of ${calls}`}
        {connection !== undefined && ` to ${printable(connectionName(connection))}`}
        {about !== "" && ": "}
        <span class="mono">{printable(about)}</span>
      </p>
      <button type="button" aria-disabled={busy} onClick={() => busy || start(() => act("cancelRun", { run: id }))}>
        Cancel
      </button>
      {problem !== undefined && <ProblemNote problem={problem} />}
    </div>
  );
}
