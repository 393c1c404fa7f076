import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR } from "../../jsonrpc/error.js";
import { errorText, isObject, type Params, type RequestMessage, resultText } from "../../jsonrpc/message.js";
import { type ClientCapabilities, hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import { HEADER_MISMATCH, McpError, RESOURCE_NOT_FOUND, UNSUPPORTED_VERSION } from "../../protocol/error.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { InitializeRequestParams } from "../../protocol/lifecycle.js";
import { progressTokenOf } from "../../protocol/meta.js";
import { featuresOf, isRevision, type Revision, revisionsOf } from "../../protocol/revisions.js";
import type { Call, EraResult, RequestSource, ServerEra, ServerSelf } from "../era.js";
import { notificationText } from "../notification.js";
import { plainResultText } from "../result-text.js";
import { type Session, sessionRevision } from "../session.js";
import { downgradeNotification, downgradeResult, resultFor, wrappedResultFor } from "./downgrade.js";

/**
 * The server side of the stateful era: the declarations in the `initialize` handshake apply to the whole session.
 *
 * Spec: Lifecycle, https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
export const statefulServer: ServerEra = {
  name: "stateful",
  replays: false,
  decode,
  checkArguments() {},
  canAsk: (call, capability, reachable) =>
    reachable && hasQuestion(call, capability) && hasCapability(call.clientCapabilities, capability),
  hasQuestion,
  notification(method, params, { revision }) {
    const shaped = downgradeNotification(method, params, featuresOf(revision));
    return shaped === undefined ? undefined : notificationText(method, shaped);
  },
  result(call, result, row) {
    const shape = call.wrapsOutput ? wrappedResultFor : resultFor;
    return { text: resultText(call.id, plainResultText(result, row.method, call.revision, shape)) };
  },
  input() {
    throw new McpError("internal_error", "interim results do not exist in this era");
  },
  extended: (call, _resultType, members) => ({ text: resultText(call.id, JSON.stringify(members)) }),
  failure({ id, revision }, error) {
    return { text: errorText(id, codeOf(error, featuresOf(revision).notFoundCode), error.message, error.data) };
  },
  refusal(id, error) {
    const code = codeOf(error, RESOURCE_NOT_FOUND);
    const text = errorText(id, code, error.message, error.data);
    return BAD_REQUEST_CODES.has(code) ? { text, status: 400 } : { text };
  },
};

function hasQuestion({ revision }: Call, capability: string): boolean {
  const { elicitation } = featuresOf(revision);
  if (capability === "elicitation.url") return elicitation === "form+url";
  return !capability.startsWith("elicitation") || elicitation !== "none";
}

/** Codes of rejected requests that HTTP answers with 400. */
const BAD_REQUEST_CODES: ReadonlySet<number> = new Set([
  INVALID_REQUEST,
  PARSE_ERROR,
  HEADER_MISMATCH,
  UNSUPPORTED_VERSION,
]);

function codeOf(error: McpError, notFoundCode: number): number {
  if (error.kind === "resource_not_found") return notFoundCode;
  // This era does not define `MISSING_CAPABILITY`.
  return error.kind === "capability_missing" ? INTERNAL_ERROR : error.code;
}

function decode(message: RequestMessage, source: RequestSource, self: ServerSelf): Call {
  const session = source.session ?? temporarySession(message, source, self);
  const params = message.params ?? {};
  const meta = isObject(params["_meta"]) ? params["_meta"] : undefined;
  if (source.batched === true && message.method === "initialize") {
    throw new McpError("invalid_request", "`initialize` must not be part of a batch");
  }
  const own = ownResult(message.method, params, self, source);
  // The handshake has no session yet, but its parameters describe the client. `ownResult` has checked `clientInfo` and
  // `capabilities`.
  const opening = message.method === "initialize" ? (params as Partial<InitializeRequestParams>) : undefined;
  return {
    id: message.id,
    method: message.method,
    params,
    era: statefulServer,
    revision: session.revision,
    clientInfo: opening?.clientInfo ?? session.clientInfo,
    clientCapabilities: opening?.capabilities ?? session.clientCapabilities,
    progressToken: progressTokenOf(meta),
    // Until the client sets a level, it receives all log messages.
    logLevel: session.logLevel ?? "debug",
    inputs: undefined,
    eraResult: own,
    session: source.session,
    wrapsOutput: false,
  };
}

/**
 * A session for a request without one: the handshake itself, `ping`, or any HTTP request to a server that stores no
 * sessions.
 */
function temporarySession(message: RequestMessage, source: RequestSource, self: ServerSelf): Session {
  const stateful = revisionsOf("stateful", self.revisions);
  const newest = stateful[0];
  if (newest === undefined) throw noHandshake(message, source, self);
  const early = message.method === "initialize" || message.method === "ping";
  if (!early && source.http === undefined) {
    throw new McpError("invalid_request", `"${message.method}" was sent before \`initialize\``);
  }
  const header = source.http?.protocolHeaders.protocolVersion;
  const named = early && header === undefined ? newest : sessionRevision(header, self.revisions);
  if (!early && McpError.is(named)) throw named;
  const revision = McpError.is(named) ? newest : named;
  return { revision, clientCapabilities: {}, initialized: false, subscriptions: [] };
}

function noHandshake(message: RequestMessage, source: RequestSource, self: ServerSelf): McpError {
  const supported = revisionsOf("stateless", self.revisions);
  const text = `this server supports ${supported.join(", ")}, where every request has its version in \`_meta\``;
  if (source.http !== undefined) return new McpError("header_mismatch", text, { data: { supported } });
  if (message.method !== "initialize") return new McpError("invalid_params", text, { data: { supported } });
  const requested = message.params?.["protocolVersion"];
  return new McpError("unsupported_version", text, { data: { supported, requested: requested ?? "" } });
}

function ownResult(method: string, params: Params, self: ServerSelf, source: RequestSource): EraResult | undefined {
  if (method === "ping") return { result: {} };
  if (method !== "initialize") return undefined;
  if (source.session !== undefined) throw new McpError("invalid_request", "the session is already initialized");
  const session = openSession(params, self);
  const result = {
    protocolVersion: session.revision,
    capabilities:
      source.opensSession === false ? sessionlessCapabilities(self, session) : self.capabilities(session.revision),
    serverInfo: self.info,
    instructions: self.instructions,
  };
  const written = downgradeResult("initialize", result, featuresOf(session.revision));
  return source.opensSession === false ? { result: written } : { result: written, session };
}

/** The capabilities that do not require a session. Subscriptions, and notifications outside a request, are removed. */
function sessionlessCapabilities(self: ServerSelf, { revision }: Session): ServerCapabilities {
  return Object.fromEntries(
    Object.entries(self.capabilities(revision)).map(([name, value]) => {
      if (!isObject(value)) return [name, value];
      const { subscribe: _subscribe, listChanged: _listChanged, ...rest } = value;
      return [name, rest];
    }),
  );
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
    // Safe: both are objects. Their members are optional and read one by one.
    clientCapabilities: capabilities as ClientCapabilities,
    clientInfo: clientInfo as unknown as Implementation,
    initialized: false,
    subscriptions: [],
  };
}

function missing(name: string, what: string): McpError {
  return new McpError("invalid_params", `\`params.${name}\` of \`initialize\` must be ${what}`);
}

/**
 * The requested revision if it is supported, otherwise the newest supported revision with a handshake.
 *
 * Spec: Lifecycle, "Version Negotiation",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
 */
function negotiate(asked: string, self: ServerSelf): Revision {
  const spoken = revisionsOf("stateful", self.revisions);
  const newest = spoken[0];
  if (newest === undefined) throw new McpError("unsupported_version", "this server does not support the handshake");
  return isRevision(asked) && spoken.includes(asked) ? asked : newest;
}
