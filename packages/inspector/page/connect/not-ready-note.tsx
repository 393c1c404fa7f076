import type { ConnectionInfo, ConnectionStatus } from "../../src/contract/connections.js";
import { currentView, type ViewId } from "../backend/page-state.js";
import { ProblemNote } from "../parts/problem-note.js";

/** Views that need a live server. */
const NEED_SERVER: readonly ViewId[] = ["use", "model", "eras"];

const WORDS: Readonly<Record<Exclude<ConnectionStatus, "ready">, string>> = {
  connecting: "Connecting to the server…",
  login: "The server is waiting for you to log in.",
  lost: "The connection was lost. Reconnecting…",
  failed: "The connection failed.",
  closed: "The connection is closed.",
  imported: "This is a recorded session without a live server.",
};

interface NotReadyNoteProps {
  readonly view: ViewId;
  readonly connection: ConnectionInfo | undefined;
}

/** Explains why a view is unavailable and links to the server view, where the user can log in or reconnect. */
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
