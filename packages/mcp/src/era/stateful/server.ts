import { errorText, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, resultText } from "../../jsonrpc/error.js";
import { isId, isObject, type Params, type RequestMessage } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError, RESOURCE_NOT_FOUND } from "../../protocol/error.js";
import type { Implementation } from "../../protocol/implementation.js";
import { featuresOf, isRevision, type Revision, revisionsOf, UNNAMED_HTTP_REVISION } from "../../protocol/revisions.js";
import type { Call, Lifecycle, Origin, ServerEra, ServerSelf } from "../era.js";
import { plainResultText } from "../result-text.js";
import type { Session } from "../session.js";
import { downgradeResult } from "./downgrade.js";

/** The era of the `initialize` handshake: what the peer said once counts for all that follows. */
export const statefulServer: ServerEra = {
  name: "stateful",
  asks: "request",
  mirrorsParams: false,
  logsByDefault: true,
  decode,
  lifecycle,
  result(call, result, row) {
    const text = plainResultText(result, row.method, call.revision, (value) =>
      downgradeResult(row.method, value, call.features),
    );
    return { text: resultText(call.id, text) };
  },
  input() {
    throw new McpError("internal_error", "interim results do not exist in this era");
  },
  error(id, error, early, features) {
    const code =
      error.kind === "resource_not_found" ? (features?.notFoundCode ?? RESOURCE_NOT_FOUND) : statefulCode(error);
    const text = errorText(id, code, error.message, error.data);
    return early && (code === INVALID_REQUEST || code === PARSE_ERROR) ? { text, status: 400 } : { text };
  },
};

function statefulCode(error: McpError): number {
  // The newer code means nothing to peers of this era.
  return error.kind === "capability_missing" ? INTERNAL_ERROR : error.code;
}

function decode(message: RequestMessage, origin: Origin, self: ServerSelf): Call {
  const session = origin.session ?? passingSession(message, origin, self);
  const params = message.params ?? {};
  const meta = isObject(params["_meta"]) ? params["_meta"] : undefined;
  const token = meta?.["progressToken"];
  if (origin.batched === true && message.method === "initialize") {
    throw new McpError("invalid_request", "`initialize` is never part of a batch");
  }
  return {
    id: message.id,
    method: message.method,
    params,
    era: statefulServer,
    revision: session.revision,
    features: featuresOf(session.revision),
    clientInfo: session.clientInfo,
    clientCapabilities: session.clientCapabilities,
    progressToken: isId(token) ? token : undefined,
    logLevel: session.logLevel,
    inputs: undefined,
  };
}

/** A session for a request that has none yet: the handshake itself, `ping`, or a server that keeps no sessions. */
function passingSession(message: RequestMessage, origin: Origin, self: ServerSelf): Session {
  const stateful = revisionsOf("stateful", self.revisions);
  const newest = stateful[0];
  if (newest === undefined) throw noHandshake(message, origin, self);
  const named = origin.http?.header("mcp-protocol-version");
  const known = isRevision(named) && stateful.includes(named) ? named : undefined;
  const early = message.method === "initialize" || message.method === "ping";
  if (!early && origin.http === undefined) {
    throw new McpError("invalid_request", `"${message.method}" came before \`initialize\``, {
      fix: "Send `initialize` first, or name the protocol version in `_meta` of each request.",
    });
  }
  const revision = known ?? (origin.http !== undefined && !early ? UNNAMED_HTTP_REVISION : newest);
  return { revision, clientCapabilities: {}, initialized: false, subscriptions: [] };
}

function noHandshake(message: RequestMessage, origin: Origin, self: ServerSelf): McpError {
  const supported = revisionsOf("stateless", self.revisions);
  const text = `this server speaks ${supported.join(", ")}, where every request names its version in \`_meta\``;
  if (origin.http !== undefined) return new McpError("header_mismatch", text, { data: { supported } });
  if (message.method !== "initialize") return new McpError("invalid_params", text, { data: { supported } });
  const requested = message.params?.["protocolVersion"];
  return new McpError("unsupported_version", text, { data: { supported, requested: requested ?? "" } });
}

function lifecycle(call: Call, self: ServerSelf, origin: Origin): Lifecycle | undefined {
  if (call.method === "ping") return { result: {} };
  if (call.method !== "initialize") return undefined;
  if (origin.session !== undefined) throw new McpError("invalid_request", "the session is initialized already");
  const session = openSession(call.params, self);
  const result = {
    protocolVersion: session.revision,
    capabilities: self.capabilities(session.revision),
    serverInfo: self.info,
    ...(self.instructions === undefined ? {} : { instructions: self.instructions }),
  };
  return { result: downgradeResult("initialize", result, featuresOf(session.revision)), opens: session };
}

function openSession(params: Params, self: ServerSelf): Session {
  const { protocolVersion, capabilities, clientInfo } = params;
  if (typeof protocolVersion !== "string") throw missing("protocolVersion", "a string");
  if (!isObject(capabilities)) throw missing("capabilities", "an object");
  if (!isObject(clientInfo) || typeof clientInfo["name"] !== "string" || typeof clientInfo["version"] !== "string") {
    throw missing("clientInfo", "an object with `name` and `version`");
  }
  return {
    revision: negotiate(protocolVersion, self),
    // Checked to be objects; their members are optional and read one by one.
    clientCapabilities: capabilities as ClientCapabilities,
    clientInfo: clientInfo as unknown as Implementation,
    initialized: false,
    subscriptions: [],
  };
}

function missing(name: string, what: string): McpError {
  return new McpError("invalid_params", `\`params.${name}\` of \`initialize\` must be ${what}`);
}

/** The asked revision when it is spoken here, else the newest that has a handshake. */
function negotiate(asked: string, self: ServerSelf): Revision {
  const spoken = revisionsOf("stateful", self.revisions);
  const newest = spoken[0];
  if (newest === undefined) throw new McpError("unsupported_version", "this server has no handshake");
  return isRevision(asked) && spoken.includes(asked) ? asked : newest;
}
