import type { Revision } from "@parley/mcp/protocol";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import { act } from "../backend/act.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";
import { RevisionSelect } from "./revision-select.js";

/** Reconnects, disconnects or removes a connection. */
export function ConnectionControls({ connection }: { readonly connection: ConnectionInfo }) {
  const { id, status, wanted } = connection;
  const action = useAction();
  const ended = status === "closed" || status === "failed";
  const reopenIn = (revision: Revision | undefined) =>
    action.run(() => act("reopen", { connection: id, revision: revision ?? null }));
  return (
    <div class="connect-controls">
      <div class="parts-actions">
        <span class="connect-field-row">
          <span aria-hidden="true">Revision</span>
          <RevisionSelect label="Protocol revision" chosen={wanted} onChoose={reopenIn} disabled={action.busy} />
        </span>
        <button
          type="button"
          disabled={action.busy}
          onClick={() => action.run(() => act("reopen", { connection: id }))}
        >
          Reconnect
        </button>
        {!ended && (
          <button type="button" onClick={() => action.run(() => act("disconnect", { connection: id }))}>
            Disconnect
          </button>
        )}
        {ended && (
          <button type="button" onClick={() => action.run(() => act("forget", { connection: id }))}>
            Remove
          </button>
        )}
      </div>
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
    </div>
  );
}
