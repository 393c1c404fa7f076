import type { ConnectionInfo } from "../../src/contract/connections.js";
import { act } from "../backend/act.js";
import { connectionName } from "../connect/connection-name.js";
import { ProblemNote } from "../parts/problem-note.js";
import { saveFile } from "../parts/save-file.js";
import { useAction } from "../parts/use-action.js";
import { SessionSection } from "./session-section.js";

/** Saves the session of a connection as a file. */
export function ExportSection({ connections }: { readonly connections: readonly ConnectionInfo[] }) {
  const action = useAction();
  const save = (connection: string) => action.run(async () => saveFile(await act("exportSession", { connection })));
  return (
    <SessionSection title="Export">
      <p class="soft">
        Saves the recording of a connection or, if there is none, its timeline, in the format of{" "}
        <code>parley record</code>. <code>parley replay</code> reads the file. Secrets are removed.
      </p>
      {connections.length === 0 && <p>No connections yet.</p>}
      <ul class="keep-exports">
        {connections.map((connection) => (
          <li key={connection.id}>
            <button type="button" disabled={action.busy} onClick={() => save(connection.id)}>
              Export {connectionName(connection)}
            </button>
            <span class="soft"> {connection.target.shown}</span>
          </li>
        ))}
      </ul>
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
    </SessionSection>
  );
}
