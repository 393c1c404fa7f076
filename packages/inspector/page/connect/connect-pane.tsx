import { useState } from "preact/hooks";
import { sharedSession } from "../backend/shared-session.js";
import { Dialog } from "../parts/dialog.js";
import { ConnectionList } from "./connection-list.js";
import { TargetList } from "./target-list.js";
import { UrlForm } from "./url-form.js";

/** The connections, and what to connect to. */
export function ConnectPane() {
  const [adding, setAdding] = useState(false);
  return (
    <nav class="connect-pane" aria-label="Connections">
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
        <code>parley inspect node server.js</code>.
      </p>
      <UrlForm />
    </div>
  );
}
