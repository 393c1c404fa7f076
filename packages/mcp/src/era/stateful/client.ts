import { type Id, idText, isObject, requestText } from "../../jsonrpc/message.js";
import { hasCapability } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { CreateMessageResult, SamplingMessageContentBlock } from "../../protocol/features/sampling.js";
import { type MethodTable, serverAsks } from "../../protocol/methods.js";
import { featuresOf, type Revision, type RevisionFeatures } from "../../protocol/revisions.js";
import { callerMeta } from "../caller-meta.js";
import type { ClientEra, ClientSelf, OutgoingCall } from "../era.js";
import { notificationText } from "../notification.js";

/**
 * The client side of the stateful era, for one negotiated revision. `resultTypes` are the result types of the client's
 * extensions.
 */
export function statefulClient(
  revision: Revision,
  self: ClientSelf,
  methods: MethodTable,
  resultTypes: readonly string[] = [],
): ClientEra {
  const features = featuresOf(revision);
  const headers = self.headers ? { headers: versionHeaders(revision) } : {};
  return {
    revision,
    mirrorsParams: false,
    hasCacheHints: false,
    serverAsks: serverAsks(methods, revision),
    has: (method) => methods.at(method, revision) !== undefined,
    offers: (capabilities, capability) =>
      // The first revision has `completion/complete` but no capability for it.
      (capability === "completions" && !features.completionsCapability) || hasCapability(capabilities, capability),
    mirroredParams: () => ({ headers: [] }),
    encode(id, call) {
      const text = requestText(id, call.method, paramsText(call));
      return { id, method: call.method, text, ...headers };
    },
    decode(method, answer) {
      const result = answer === null && methods.get(method)?.emptyResult === true ? {} : answer;
      if (!isObject(result))
        throw new McpError("invalid_response", `the result of ${method} is not an object`, { data: { result } });
      // In this era an extension's result has no type field. It is recognised by a member with the name of the type, as
      // in `{ task }`.
      const type = resultTypes.find((name) => isObject(result[name]) && result["content"] === undefined);
      return type === undefined
        ? { kind: "complete", result }
        : { kind: "extension", type, result: result[type] as Record<string, unknown> };
    },
    notification: (method, params) => ({ method, text: notificationText(method, params), ...headers }),
    cancel(requestId, reason) {
      const method = "notifications/cancelled";
      return { method, text: notificationText(method, { requestId, reason }), ...headers };
    },
    answer: (method, answer) =>
      // The application answers in the form of the newest revision. Only answers to sampling differ in older revisions.
      method === "sampling/createMessage" ? samplingAnswer(features, answer as CreateMessageResult) : answer,
  };
}

/** The model's answer in the form of the server's revision. Older revisions allow one block, not a list. */
export function samplingAnswer(features: RevisionFeatures, answer: CreateMessageResult): CreateMessageResult {
  const { content } = answer;
  if (!Array.isArray(content) || features.samplingTools) return answer;
  return { ...answer, content: oneBlock(content) };
}

function oneBlock(blocks: readonly SamplingMessageContentBlock[]): SamplingMessageContentBlock {
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const other = blocks.find((block) => "data" in block);
  return texts.length > 0 || other === undefined ? { type: "text", text: texts.join("\n") } : other;
}

/**
 * The headers that every request in this revision has.
 *
 * Spec: Transports, "Protocol Version Header",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
 */
export function versionHeaders(revision: Revision): Record<string, string> {
  return featuresOf(revision).versionHeader ? { "mcp-protocol-version": revision } : {};
}

function paramsText({ params, progressToken, meta }: OutgoingCall): string | undefined {
  if (progressToken === undefined && meta === undefined) return JSON.stringify(params);
  const given = params?.["_meta"];
  if (given !== undefined || meta !== undefined) {
    const token = progressToken === undefined ? {} : { progressToken };
    return JSON.stringify({ ...params, _meta: { ...callerMeta(meta, given), ...token } });
  }
  const metaText = `"_meta":{"progressToken":${idText(progressToken as Id)}}`;
  const body = JSON.stringify(params);
  // Joins the texts, which avoids building and serialising a merged object.
  return body === undefined || body === "{}" ? `{${metaText}}` : `${body.slice(0, -1)},${metaText}}`;
}
