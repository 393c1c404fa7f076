import type { ConnectionInfo } from "../../src/contract/connections.js";
import { act } from "../backend/act.js";
import { connectionName } from "../connect/connection-name.js";
import { ProblemNote } from "../parts/problem-note.js";
import { saveFile } from "../parts/save-file.js";
import { useAction } from "../parts/use-action.js";
import { KeepSection } from "./keep-section.js";

/** Saves the session of each connection as a file. */
export function ExportSection({ connections }: { readonly connections: readonly ConnectionInfo[] }) {
  const action = useAction();
  const save = (connection: string) => action.run(async () => saveFile(await act("exportSession", { connection })));
  return (
    <KeepSection title="Export">
      <p class="soft">
        A file holds what was recorded of a connection, or else what the timeline has of it, in the form of{" "}
        <code>parley record</code>: <code>parley replay</code> reads it. Secrets are taken out.
      </p>
      {connections.length === 0 && <p>There is no connection yet.</p>}
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
    </KeepSection>
  );
}
