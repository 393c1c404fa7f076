import { printable } from "@parley/mcp/protocol";
import type { RunInfo } from "../../src/contract/keep.js";
import { act } from "../backend/act.js";
import { inspectorState, reached } from "../backend/page-state.js";
import { connectionName } from "../connect/connection-name.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";

/** How far a replay or a comparison is, and a way to end it; nothing where none is under way. Another tab may have started it. */
export function RunProgress({ kind }: { readonly kind: RunInfo["kind"] }) {
  const run = inspectorState.value?.runs?.find((one) => one.kind === kind);
  const isEnded = reached.value === "gone" || reached.value === "refused";
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
