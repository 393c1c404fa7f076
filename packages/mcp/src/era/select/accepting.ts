import type { HttpRequestInfo } from "../../http/http.js";
import { isObject, type NotificationMessage, type RequestMessage } from "../../jsonrpc/message.js";
import { META } from "../../protocol/meta.js";
import type { MethodTable } from "../../protocol/methods.js";
import { featuresOf, isRevision } from "../../protocol/revisions.js";
import type { Accepted, ServerEra } from "../era.js";
import { statefulServer } from "../stateful/server.js";
import { statelessServer } from "../stateless/server.js";

type Message = RequestMessage | NotificationMessage;

/** Creates the function that decides, once for each message, which era serves it. */
export function accepting(
  methods: MethodTable,
): <M extends Message>(message: M, http?: HttpRequestInfo) => Accepted<M> {
  return (message, http) => {
    const era = eraOf(message, http);
    const row = methods.get(message.method);
    return {
      message,
      era,
      inSession: era === statefulServer,
      opensSession: row?.opensSession === true,
      endless: row?.deadlineExempt === true,
    };
  };
}

/**
 * The stateless era's metadata decides first, then `initialize`, then the version header. A message without any of them
 * belongs to the stateful era.
 *
 * Spec: Versioning, https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
function eraOf(message: Message, http: HttpRequestInfo | undefined): ServerEra {
  const meta = message.params?.["_meta"];
  if (isObject(meta) && meta[META.protocolVersion] !== undefined) return statelessServer;
  if (message.method === "initialize") return statefulServer;
  const version = http?.protocolHeaders.protocolVersion;
  if (version === undefined) return statefulServer;
  return isRevision(version) && featuresOf(version).era === "stateful" ? statefulServer : statelessServer;
}
