import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { featuresOf, type Revision } from "../../protocol/revisions.js";
import type { ClientEra, ClientSelf, OutgoingCall } from "../era.js";
import { notificationText } from "../notification.js";

/** The client's half of the handshake era, for one negotiated revision. */
export function statefulClient(revision: Revision, self: ClientSelf): ClientEra {
  const standing = versionHeaders(revision);
  const headers = self.headers ? { headers: standing } : {};
  return {
    name: "stateful",
    revision,
    encode(id, call) {
      const params = withMeta(call);
      const body = params === undefined ? "" : `,"params":${JSON.stringify(params)}`;
      const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(call.method)}${body}}`;
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

function withMeta({ params, progressToken, meta }: OutgoingCall): object | undefined {
  if (progressToken === undefined && meta === undefined) return params;
  const given = isObject(params?.["_meta"]) ? params["_meta"] : {};
  const token = progressToken === undefined ? {} : { progressToken };
  return { ...params, _meta: { ...meta, ...given, ...token } };
}
