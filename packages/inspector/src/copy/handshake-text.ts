import { REVISIONS, shownRevision } from "@parley/mcp/protocol";
import type { CopiedRequest } from "./copied-request.js";

/** The revision of a copy that does not say which it is for. */
export const DEFAULT_REVISION =
  REVISIONS.findLast((revision) => shownRevision(revision).era === "stateful") ?? REVISIONS[0];

/** The id of the request that begins a handshake. */
export const INITIALIZE_ID = 0;

/** The notification that ends a handshake, as JSON. */
export const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** The request that begins the handshake of a copy, as JSON. */
export function initializeText({ revision = DEFAULT_REVISION }: CopiedRequest): string {
  const clientInfo = { name: "curl", version: "1" };
  const params = { protocolVersion: revision, capabilities: {}, clientInfo };
  return JSON.stringify({ jsonrpc: "2.0", id: INITIALIZE_ID, method: "initialize", params });
}
