import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { META } from "../../protocol/meta.js";
import type { MethodTable } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions.js";
import type { ClientEra, ClientSelf, Outcome, OutgoingCall, Question } from "../era.js";
import { notificationText } from "../notification.js";
import { encodeHeaderValue } from "./header-value.js";

/** The client's half of the era without a handshake. `resultTypes` are those that the client's extensions bring. */
export function statelessClient(
  revision: Revision,
  self: ClientSelf,
  methods: MethodTable,
  resultTypes: readonly string[] = [],
): ClientEra {
  // The same in every request, so it is written once.
  const standing = JSON.stringify({
    [META.protocolVersion]: revision,
    [META.clientInfo]: self.info,
    [META.clientCapabilities]: self.capabilities,
  }).slice(1, -1);
  return {
    name: "stateless",
    revision,
    encode(id, call) {
      const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(call.method)},"params":${paramsText(call, standing)}}`;
      if (!self.headers) return { id, method: call.method, text };
      return { id, method: call.method, text, headers: headersFor(revision, call, methods) };
    },
    decode: (method, result) => decode(method, result, methods, resultTypes),
    notice(method, params) {
      const headers = { "mcp-protocol-version": revision, "mcp-method": method };
      return { method, text: notificationText(method, params), ...(self.headers ? { headers } : {}) };
    },
    cancel(requestId, reason) {
      // Over HTTP the closed stream says it.
      if (self.headers) return undefined;
      const method = "notifications/cancelled";
      return { method, text: notificationText(method, { requestId, reason }) };
    },
  };
}

function paramsText({ params, progressToken, logLevel, meta, inputs }: OutgoingCall, standing: string): string {
  const given = isObject(params?.["_meta"]) ? params["_meta"] : undefined;
  const extra = {
    ...meta,
    ...given,
    ...(progressToken === undefined ? {} : { progressToken }),
    ...(logLevel === undefined ? {} : { [META.logLevel]: logLevel }),
  };
  const more = JSON.stringify(extra).slice(1, -1);
  const metaText = `"_meta":{${standing}${more === "" ? "" : `,${more}`}}`;
  const { _meta: _, ...rest } = params ?? {};
  const answers = {
    ...(inputs?.responses === undefined ? {} : { inputResponses: inputs.responses }),
    ...(inputs?.state === undefined ? {} : { requestState: inputs.state }),
  };
  const body = JSON.stringify(inputs === undefined ? rest : { ...rest, ...answers }).slice(1, -1);
  return body === "" ? `{${metaText}}` : `{${body},${metaText}}`;
}

function headersFor(revision: Revision, call: OutgoingCall, methods: MethodTable): Record<string, string> {
  const headers: Record<string, string> = { "mcp-protocol-version": revision, "mcp-method": call.method };
  const field = methods.get(call.method)?.nameField;
  const name = field === undefined ? undefined : call.params?.[field];
  if (typeof name === "string") headers["mcp-name"] = encodeHeaderValue(name);
  return call.paramHeaders === undefined ? headers : { ...headers, ...call.paramHeaders };
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
    throw invalid(method, "has a requestState that is no string", result);
  if (inputRequests === undefined) {
    if (requestState === undefined)
      throw invalid(method, "asks for input and names neither questions nor a state", result);
    return { kind: "input", questions: {}, state: requestState };
  }
  if (!isObject(inputRequests)) throw invalid(method, "has inputRequests that are no object", result);
  for (const [key, question] of Object.entries(inputRequests)) {
    const asked = isObject(question) ? question["method"] : undefined;
    if (typeof asked !== "string" || methods.get(asked)?.embeddedFrom === undefined) {
      throw invalid(method, `asks "${key}" by an unknown method`, result);
    }
  }
  // Each entry was checked to be an object with a method that may be embedded.
  return { kind: "input", questions: inputRequests as unknown as Record<string, Question>, state: requestState };
}

function invalid(method: string, what: string, result: unknown): McpError {
  return new McpError("invalid_response", `the result of ${method} ${what}`, {
    data: { result },
    fix: "The server breaks the protocol here; tell its authors, or pin an older revision by `revisions`.",
  });
}
