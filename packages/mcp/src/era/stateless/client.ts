import { idText, isObject, type Params, requestText } from "../../jsonrpc/message.js";
import { type ClientCapabilities, hasCapability } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { META } from "../../protocol/meta.js";
import { type MethodTable, serverAsks } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions.js";
import { callerMeta } from "../caller-meta.js";
import type { ClientEra, ClientSelf, Outcome, OutgoingCall, Question } from "../era.js";
import { encodeHeaderValue } from "../header-value.js";
import { notificationText } from "../notification.js";
import { paramHeaders, paramHeaderTable } from "../param-headers.js";
import { DOWNGRADES } from "./downgrade.js";

/** The client side of the stateless era. `resultTypes` are the result types of the client's extensions. */
export function statelessClient(
  revision: Revision,
  self: ClientSelf,
  methods: MethodTable,
  resultTypes: readonly string[] = [],
): ClientEra {
  // The metadata is the same in every request, so its text is created once.
  const { extensions } = self.capabilities;
  const standingText = (capabilities: ClientCapabilities) =>
    JSON.stringify({
      [META.protocolVersion]: revision,
      [META.clientInfo]: self.info,
      [META.clientCapabilities]: capabilities,
    }).slice(1, -1);
  const standing = standingText(self.capabilities);
  // A gateway declares the same capabilities for most of its callers, so the texts are cached.
  const known = new WeakMap<ClientCapabilities, string>();
  const standingOf = (own: ClientCapabilities) => {
    let text = known.get(own);
    if (text === undefined) {
      text = standingText(extensions === undefined ? own : { extensions, ...own });
      known.set(own, text);
    }
    return text;
  };
  return {
    revision,
    mirrorsParams: self.headers,
    hasCacheHints: true,
    serverAsks: serverAsks(methods, revision),
    has: (method) => methods.at(method, revision) !== undefined,
    offers: hasCapability,
    mirroredParams: (inputSchema) => (self.headers ? paramHeaderTable(inputSchema) : { headers: [] }),
    encode(id, call) {
      const meta = call.capabilities === undefined ? standing : standingOf(call.capabilities);
      const text = requestText(id, call.method, paramsText(call, meta));
      if (!self.headers) return { id, method: call.method, text };
      return { id, method: call.method, text, headers: headersFor(revision, call, methods) };
    },
    decode: (method, result) => decode(method, result, methods, resultTypes),
    notification(method, params) {
      const headers = { "mcp-protocol-version": revision, "mcp-method": method };
      return { method, text: notificationText(method, params), ...(self.headers ? { headers } : {}) };
    },
    cancel(requestId, reason) {
      // Spec: Streamable HTTP, "Cancellation": over HTTP, closing the response stream cancels the request.
      if (self.headers) return undefined;
      const method = "notifications/cancelled";
      return { method, text: notificationText(method, { requestId, reason }) };
    },
    answer: DOWNGRADES[revision]?.answer ?? ((_method, answer) => answer),
  };
}

function paramsText(call: OutgoingCall, standing: string): string {
  const { params, inputs } = call;
  const metaText = `"_meta":{${standing}${moreMeta(call)}}`;
  const body = JSON.stringify(inputs === undefined ? withoutMeta(params) : withAnswers(params, inputs));
  // Joins the texts, which avoids building and serialising a merged object.
  return body === undefined || body === "{}" ? `{${metaText}}` : `${body.slice(0, -1)},${metaText}}`;
}

function moreMeta({ params, progressToken, logLevel, meta }: OutgoingCall): string {
  const token = progressToken === undefined ? "" : `,"progressToken":${idText(progressToken)}`;
  const given = params?.["_meta"];
  if (given === undefined && meta === undefined && logLevel === undefined) return token;
  const more = JSON.stringify({ ...callerMeta(meta, given), [META.logLevel]: logLevel }).slice(1, -1);
  return more === "" ? token : `,${more}${token}`;
}

function withoutMeta(params: Params | undefined): Params | undefined {
  if (params === undefined || !Object.hasOwn(params, "_meta")) return params;
  const { _meta: _, ...rest } = params;
  return rest;
}

function withAnswers(params: Params | undefined, { responses, state }: NonNullable<OutgoingCall["inputs"]>): Params {
  return {
    ...withoutMeta(params),
    ...(responses === undefined ? {} : { inputResponses: responses }),
    ...(state === undefined ? {} : { requestState: state }),
  };
}

function headersFor(revision: Revision, call: OutgoingCall, methods: MethodTable): Record<string, string> {
  const headers: Record<string, string> = { "mcp-protocol-version": revision, "mcp-method": call.method };
  const field = methods.get(call.method)?.nameField;
  const name = field === undefined ? undefined : call.params?.[field];
  if (typeof name === "string") headers["mcp-name"] = encodeHeaderValue(name);
  if (call.mirrored !== undefined) Object.assign(headers, paramHeaders(call.mirrored, call.params?.["arguments"]));
  return headers;
}

function decode(method: string, result: unknown, methods: MethodTable, resultTypes: readonly string[]): Outcome {
  if (!isObject(result)) throw invalid(method, "is not an object", result);
  const type = result["resultType"];
  if (type === undefined || type === "complete") return { kind: "complete", result };
  if (type === "input_required") {
    if (methods.get(method)?.mayAsk !== true) throw invalid(method, "may not ask for input", result);
    return decodeQuestions(method, result, methods);
  }
  if (typeof type === "string" && resultTypes.includes(type)) return { kind: "extension", type, result };
  throw invalid(method, `has the unknown resultType ${JSON.stringify(type)}`, result);
}

function decodeQuestions(method: string, result: Record<string, unknown>, methods: MethodTable): Outcome {
  const { inputRequests, requestState } = result;
  if (requestState !== undefined && typeof requestState !== "string")
    throw invalid(method, "has a requestState that is not a string", result);
  if (inputRequests === undefined) {
    if (requestState === undefined)
      throw invalid(method, "asks for input but has neither inputRequests nor requestState", result);
    return { kind: "input", questions: {}, state: requestState };
  }
  if (!isObject(inputRequests)) throw invalid(method, "has inputRequests that are not an object", result);
  for (const [key, question] of Object.entries(inputRequests)) {
    const asked = isObject(question) ? question["method"] : undefined;
    if (typeof asked !== "string" || methods.get(asked)?.embeddedFrom === undefined) {
      throw invalid(method, `asks "${key}" with an unknown method`, result);
    }
  }
  // Safe: the loop checked that each entry is an object with a method that may be embedded.
  return { kind: "input", questions: inputRequests as unknown as Record<string, Question>, state: requestState };
}

function invalid(method: string, what: string, result: unknown): McpError {
  return new McpError("invalid_response", `the result of ${method} ${what}`, {
    data: { result },
    fix: "Report this to the authors of the server, which violates the protocol, or use an older revision with `revisions`.",
  });
}
