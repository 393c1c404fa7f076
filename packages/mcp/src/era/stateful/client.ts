import { type Id, isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { featuresOf, type Revision } from "../../protocol/revisions.js";
import type { ClientEra, ClientSelf, OutgoingCall } from "../era.js";
import { notificationText } from "../notification.js";
import { idText, requestText } from "../request-text.js";

/** The client's half of the handshake era, for one negotiated revision. */
export function statefulClient(revision: Revision, self: ClientSelf): ClientEra {
  const standing = versionHeaders(revision);
  const headers = self.headers ? { headers: standing } : {};
  return {
    name: "stateful",
    revision,
    encode(id, call) {
      const text = requestText(id, call.method, paramsText(call));
      return { id, method: call.method, text, ...headers };
    },
    decode(method, result) {
      if (!isObject(result))
        throw new McpError("invalid_response", `the result of ${method} is not an object`, { data: { result } });
      return { kind: "complete", result };
    },
    notice: (method, params) => ({ method, text: notificationText(method, params), ...headers }),
    cancel(requestId, reason) {
      const method = "notifications/cancelled";
      return { method, text: notificationText(method, { requestId, reason }), ...headers };
    },
  };
}

/** The headers that go with every request of this revision. */
export function versionHeaders(revision: Revision): Record<string, string> {
  return featuresOf(revision).versionHeader ? { "mcp-protocol-version": revision } : {};
}

function paramsText({ params, progressToken, meta }: OutgoingCall): string | undefined {
  if (progressToken === undefined && meta === undefined) return JSON.stringify(params);
  const given = params?.["_meta"];
  if (given !== undefined || meta !== undefined) {
    const token = progressToken === undefined ? {} : { progressToken };
    return JSON.stringify({ ...params, _meta: { ...meta, ...(isObject(given) ? given : {}), ...token } });
  }
  const metaText = `"_meta":{"progressToken":${idText(progressToken as Id)}}`;
  const body = JSON.stringify(params);
  // Writing the texts together costs less than a new object that is written once.
  return body === undefined || body === "{}" ? `{${metaText}}` : `${body.slice(0, -1)},${metaText}}`;
}
