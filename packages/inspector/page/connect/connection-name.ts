import type { ConnectionInfo, ConnectionStatus } from "../../src/contract/connections.js";

/** Characters of a name that are shown; a server may send any number. */
const MOST_NAME = 120;

/** What a connection is called: the title or name that its server gave, or else its target. */
export function connectionName({ server, target }: ConnectionInfo): string {
  const name = server?.title ?? server?.name ?? target.shown;
  return name.length <= MOST_NAME ? name : `${name.slice(0, MOST_NAME)}…`;
}

/** The revision that a connection speaks, its era, and how often it was opened again, as far as there is something to say. */
export function connectionFacts({ revision, era, opened }: ConnectionInfo): readonly string[] {
  const again = opened === 2 ? "1 reconnect" : `${opened - 1} reconnects`;
  return [revision, era, opened > 1 ? again : undefined].filter((fact) => fact !== undefined);
}

/** The state of a connection in words. */
export const STATUS_WORDS: Readonly<Record<ConnectionStatus, string>> = {
  connecting: "connecting",
  login: "waits for login",
  ready: "ready",
  lost: "lost, opening again",
  failed: "failed",
  closed: "closed",
  imported: "imported session",
};
