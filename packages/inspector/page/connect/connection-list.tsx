import type { ConnectionInfo } from "../../src/contract/connections.js";
import { chosenConnection, currentConnection, inspectorState } from "../backend/page-state.js";
import { connectionDetails, connectionName, STATUS_WORDS } from "./connection-name.js";

/** The list of connections. */
export function ConnectionList() {
  const connections = inspectorState.value?.connections ?? [];
  if (connections.length === 0) return <p class="soft">No connections yet.</p>;
  return (
    <ul class="connect-list">
      {connections.map((connection) => (
        <li key={connection.id}>
          <ConnectionButton connection={connection} shown={connection.id === currentConnection.value?.id} />
        </li>
      ))}
    </ul>
  );
}

function ConnectionButton({ connection, shown }: { readonly connection: ConnectionInfo; readonly shown: boolean }) {
  const { id, status } = connection;
  const choose = () => {
    chosenConnection.value = id;
  };
  return (
    <button type="button" class="connect-item" aria-current={shown ? "true" : undefined} onClick={choose}>
      <StatusDot status={status} />
      <span class="connect-item-name">{connectionName(connection)}</span>
      <span class="connect-item-facts soft">
        {[STATUS_WORDS[status], ...connectionDetails(connection)].join(" · ")}
      </span>
    </button>
  );
}

/** The status of a connection as a colour. Callers always show the status text beside the dot. */
export function StatusDot({ status }: Pick<ConnectionInfo, "status">) {
  return <span class={`connect-dot connect-dot-${status}`} aria-hidden="true" />;
}
