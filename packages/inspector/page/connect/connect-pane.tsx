import { useLayoutEffect, useState } from "preact/hooks";
import { currentConnection } from "../backend/page-state.js";
import { sharedSession } from "../backend/shared-session.js";
import { Dialog } from "../parts/dialog.js";
import { ConnectionList, StatusDot } from "./connection-list.js";
import { connectionName, STATUS_WORDS } from "./connection-name.js";
import { TargetList } from "./target-list.js";
import { UrlForm } from "./url-form.js";

/**
 * The connections and the targets to connect to. In a narrow window the pane collapses to the name of the current
 * connection.
 */
export function ConnectPane() {
  const [adding, setAdding] = useState(false);
  const [unfolded, setUnfolded] = useState(false);
  const shown = currentConnection.value;
  const id = shown?.id;
  // Collapses the pane when another connection is displayed. A layout effect runs before further user input, so it
  // never collapses a pane that the user has just expanded.
  useLayoutEffect(() => {
    if (id !== undefined) setUnfolded(false);
  }, [id]);
  return (
    <nav
      class={unfolded || shown === undefined ? "connect-pane" : "connect-pane connect-pane-folded"}
      aria-label="Connections"
    >
      {shown !== undefined && (
        <button type="button" class="connect-fold" aria-expanded={unfolded} onClick={() => setUnfolded(!unfolded)}>
          <StatusDot status={shown.status} /> {connectionName(shown)}, {STATUS_WORDS[shown.status]}
        </button>
      )}
      <section class="connect-section" aria-labelledby="connect-connections">
        <h2 id="connect-connections">Connections</h2>
        <ConnectionList />
      </section>
      {sharedSession() === undefined && (
        <>
          <TargetList />
          <button type="button" class="connect-add" onClick={() => setAdding(true)}>
            Connect to a URL…
          </button>
        </>
      )}
      {adding && (
        <Dialog title="Connect to a URL" onClose={() => setAdding(false)}>
          <UrlForm onConnected={() => setAdding(false)} />
        </Dialog>
      )}
    </nav>
  );
}

/** The start page, shown until the first connection. */
export function FirstConnection() {
  return (
    <div class="connect-first">
      <h2>Connect to a server</h2>
      <p class="soft">
        Enter the URL of a server. To inspect a program, start it from the terminal:{" "}
        <code>parley inspect -- node server.js</code>.
      </p>
      <UrlForm />
    </div>
  );
}
