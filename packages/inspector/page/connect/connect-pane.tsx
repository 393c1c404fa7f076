import { useLayoutEffect, useState } from "preact/hooks";
import { currentConnection } from "../backend/page-state.js";
import { sharedSession } from "../backend/shared-session.js";
import { Dialog } from "../parts/dialog.js";
import { ConnectionList, StatusDot } from "./connection-list.js";
import { connectionName, STATUS_WORDS } from "./connection-name.js";
import { TargetList } from "./target-list.js";
import { UrlForm } from "./url-form.js";

/** The connections, and what to connect to. In a narrow page it folds away behind the name of the connection that is shown. */
export function ConnectPane() {
  const [adding, setAdding] = useState(false);
  const [unfolded, setUnfolded] = useState(false);
  const shown = currentConnection.value;
  const id = shown?.id;
  // Whoever chose a connection wants to see it; at once, so that a pane which is unfolded right then stays so.
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

/** What the page shows before there is a connection. */
export function FirstConnection() {
  return (
    <div class="connect-first">
      <h2>Connect to a server</h2>
      <p class="soft">
        Give the address of a server. Commands can only be given in the terminal:{" "}
        <code>parley inspect -- node server.js</code>.
      </p>
      <UrlForm />
    </div>
  );
}
