import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import type { ReplayReport } from "../../src/contract/sessions.js";
import { act } from "../backend/act.js";
import { inspectorState } from "../backend/page-state.js";
import { connectionDetails, connectionName, STATUS_WORDS } from "../connect/connection-name.js";
import { Dialog } from "../parts/dialog.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";
import { ReplayedCalls } from "./replayed-calls.js";
import { RunProgress } from "./run-progress.js";
import { SessionSection } from "./session-section.js";

/** The last report. Kept outside of the component, because a replay continues while another view is open. */
const lastReport = signal<ReplayReport | undefined>(undefined);

/** Repeats the requests of a session and shows which responses differ. */
export function ReplaySection({ connections }: { readonly connections: readonly ConnectionInfo[] }) {
  const [sessionId, setSession] = useState("");
  const [againstId, setAgainst] = useState("");
  const [all, setAll] = useState(false);
  const [asking, setAsking] = useState(false);
  const action = useAction();
  const busy = action.busy || (inspectorState.value?.runs ?? []).some(({ kind }) => kind === "replay");
  const servers = connections.filter(({ status }) => status === "ready");
  const session = chosenOf(connections, sessionId) ?? connections.find(({ status }) => status === "imported");
  const [chosen, against] = [session ?? connections[0], chosenOf(servers, againstId) ?? servers[0]];
  const start = () => {
    setAsking(false);
    if (chosen === undefined || against === undefined) return;
    const input = { session: chosen.id, against: against.id, all };
    action.run(async () => {
      lastReport.value = undefined;
      lastReport.value = await act("replay", input);
    });
  };
  return (
    <SessionSection title="Replay">
      <p class="soft">
        Sends the requests of a session to a server again, over a separate connection, and compares the responses. Skips
        tools that are not marked as read-only, unless you include them.
      </p>
      <div class="keep-replay">
        <ConnectionSelect label="Session" connections={connections} chosen={chosen} onChoose={setSession} />
        <ConnectionSelect label="Server" connections={servers} chosen={against} onChoose={setAgainst} />
        <label class="keep-check">
          <input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />
          Include tools that may change data
        </label>
        <button
          type="button"
          class="main"
          disabled={busy || chosen === undefined || against === undefined}
          onClick={() => (all ? setAsking(true) : start())}
        >
          {busy ? "Replaying…" : "Replay"}
        </button>
      </div>
      <RunProgress kind="replay" />
      {asking && against !== undefined && (
        <ConfirmReplay server={connectionName(against)} onReplay={start} onClose={() => setAsking(false)} />
      )}
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
      {lastReport.value !== undefined && <ReplayedCalls report={lastReport.value} />}
    </SessionSection>
  );
}

interface ConfirmReplayProps {
  readonly server: string;
  readonly onReplay: () => void;
  readonly onClose: () => void;
}

function ConfirmReplay({ server, onReplay, onClose }: ConfirmReplayProps) {
  return (
    <Dialog title="Run tools that may change data?" onClose={onClose}>
      <p>
        This sends every call of the session to <strong>{server}</strong> again. Anything that the calls write, buy or
        delete happens again.
      </p>
      <div class="parts-actions">
        <button type="button" class="danger" onClick={onReplay}>
          Replay all calls
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

const chosenOf = (connections: readonly ConnectionInfo[], wanted: string) =>
  connections.find(({ id }) => id === wanted);

interface ConnectionSelectProps {
  readonly label: string;
  readonly connections: readonly ConnectionInfo[];
  readonly chosen: ConnectionInfo | undefined;
  readonly onChoose: (id: string) => void;
}

function ConnectionSelect({ label, connections, chosen, onChoose }: ConnectionSelectProps) {
  return (
    <label class="keep-select">
      {label}
      <select value={chosen?.id ?? ""} onChange={(event) => onChoose(event.currentTarget.value)}>
        {connections.length === 0 && <option value="">none</option>}
        {connections.map((connection) => (
          <option key={connection.id} value={connection.id}>
            {[connectionName(connection), STATUS_WORDS[connection.status], ...connectionDetails(connection)].join(
              " · ",
            )}
          </option>
        ))}
      </select>
    </label>
  );
}
