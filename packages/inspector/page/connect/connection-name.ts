import type { ConnectionInfo, ConnectionStatus } from "../../src/contract/connections.js";

/**
 * Maximum number of characters of a displayed name. The rest is cut off, because servers can send names of any length.
 */
const MAX_NAME_LENGTH = 120;

/** The display name of a connection: the title or name of its server, else its target. */
export function connectionName({ server, target }: ConnectionInfo): string {
  const name = server?.title ?? server?.name ?? target.shown;
  return name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, MAX_NAME_LENGTH)}…`;
}

/** The revision and era of a connection and its number of reconnects, as far as known. */
export function connectionDetails({ revision, era, opened }: ConnectionInfo): readonly string[] {
  const again = opened === 2 ? "1 reconnect" : `${opened - 1} reconnects`;
  return [revision, era, opened > 1 ? again : undefined].filter((fact) => fact !== undefined);
}

/** The display text of each status. */
export const STATUS_WORDS: Readonly<Record<ConnectionStatus, string>> = {
  connecting: "connecting",
  login: "waiting for login",
  ready: "ready",
  lost: "lost, reconnecting",
  failed: "failed",
  closed: "closed",
  imported: "imported session",
};
