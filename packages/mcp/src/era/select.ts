import { isObject, type NotificationMessage, type RequestMessage } from "../jsonrpc/message.js";
import { META } from "../protocol/meta.js";
import { type EraName, featuresOf, isRevision } from "../protocol/revisions.js";
import type { ServerEra } from "./era.js";
import { statefulServer } from "./stateful/server.js";
import { statelessServer } from "./stateless/server.js";

/**
 * The era of one message, from what it says of itself. Metadata of the newer era decides, then `initialize`, then the
 * version header; a message that says nothing belongs to the handshake era.
 */
export function eraOfRequest(
  message: RequestMessage | NotificationMessage,
  versionHeader: string | undefined,
): EraName {
  const meta = message.params?.["_meta"];
  if (isObject(meta) && meta[META.protocolVersion] !== undefined) return "stateless";
  if (message.method === "initialize" || versionHeader === undefined) return "stateful";
  return isRevision(versionHeader) ? featuresOf(versionHeader).era : "stateless";
}

/** The server's half of an era. */
export function serverEra(name: EraName): ServerEra {
  return name === "stateful" ? statefulServer : statelessServer;
}
