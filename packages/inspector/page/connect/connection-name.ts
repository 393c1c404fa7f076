import type { ConnectionInfo, ConnectionStatus } from "../../src/contract/connections.js";

/** What a connection is called: the title or name that its server gave, or else its target. */
export function connectionName({ server, target }: ConnectionInfo): string {
  return server?.title ?? server?.name ?? target.shown;
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
