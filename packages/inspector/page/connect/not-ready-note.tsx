import type { ConnectionInfo, ConnectionStatus } from "../../src/contract/connections.js";
import { currentView, type ViewId } from "../backend/page-state.js";
import { ProblemNote } from "../parts/problem-note.js";

/** Views that need a server which answers. */
const NEED_SERVER: readonly ViewId[] = ["use", "model", "eras"];

const WORDS: Readonly<Record<Exclude<ConnectionStatus, "ready">, string>> = {
  connecting: "The server is being connected to.",
  login: "The server waits for you to log in.",
  lost: "The connection is lost, and is being opened again.",
  failed: "There is no connection: it failed.",
  closed: "The connection is closed.",
  imported: "This is a recorded session: there is no server to use.",
};

interface NotReadyNoteProps {
  readonly view: ViewId;
  readonly connection: ConnectionInfo | undefined;
}

/** Says why a view cannot do its work now, and leads to where that is changed. */
export function NotReadyNote({ view, connection }: NotReadyNoteProps) {
  if (connection === undefined || connection.status === "ready" || !NEED_SERVER.includes(view)) return null;
  const { status, problem } = connection;
  const go = () => {
    currentView.value = "server";
  };
  return (
    <div class="connect-not-ready">
      <p>{WORDS[status]}</p>
      {status !== "imported" && (
        <button type="button" onClick={go}>
          {status === "login" ? "Go to the login" : "Go to the server"}
        </button>
      )}
      {problem !== undefined && <ProblemNote problem={problem} />}
    </div>
  );
}
