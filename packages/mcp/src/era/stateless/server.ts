import type { HttpRequestInfo } from "../../http/http.js";
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR } from "../../jsonrpc/error.js";
import { errorText, type Id, isObject, type RequestMessage, resultText } from "../../jsonrpc/message.js";
import { type ClientCapabilities, hasCapability } from "../../protocol/capabilities.js";
import {
  HEADER_MISMATCH,
  McpError,
  MISSING_CAPABILITY,
  RESOURCE_NOT_FOUND,
  UNSUPPORTED_VERSION,
} from "../../protocol/error.js";
import type { Implementation } from "../../protocol/implementation.js";
import { isLoggingLevel } from "../../protocol/logging.js";
import { META, progressTokenOf } from "../../protocol/meta.js";
import type { MethodRow, MethodTable } from "../../protocol/methods.js";
import { featuresOf, isRevision, NEWEST_STATELESS, type Revision, revisionsOf } from "../../protocol/revisions.js";
import type {
  CacheHint,
  Call,
  EncodedAnswer,
  EraResult,
  Question,
  RequestSource,
  ServerEra,
  ServerSelf,
} from "../era.js";
import { decodeHeaderValue, mismatch } from "../header-value.js";
import { notificationText } from "../notification.js";
import { checkParamHeaders } from "../param-headers.js";
import { resultTextWithTail } from "../result-text.js";
import { DOWNGRADES } from "./downgrade.js";

/**
 * The server side of the stateless era: every request contains all metadata that the server may use.
 *
 * Spec: Overview, https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
export const statelessServer: ServerEra = {
  name: "stateless",
  replays: true,
  decode,
  checkArguments: checkParamHeaders,
  canAsk: ({ clientCapabilities }, capability) => hasCapability(clientCapabilities, capability),
  hasQuestion: () => true,
  notification(method, params, { revision }) {
    if (method === "notifications/elicitation/complete") return undefined;
    const older = DOWNGRADES[revision];
    const shaped = older === undefined ? params : older.notification(method, params);
    return shaped === undefined ? undefined : notificationText(method, shaped);
  },
  result({ id, revision }, result, row, self, cache) {
    const text = resultTextWithTail(
      result,
      row.method,
      revision,
      tailFor(row, self, cache),
      DOWNGRADES[revision]?.result,
    );
    return { text: resultText(id, text) };
  },
  input,
  extended,
  failure: ({ id, revision }, error) => encodedError(id, error, false, revision),
  refusal: (id, error) => encodedError(id, error, true, NEWEST_STATELESS),
};

function encodedError(id: Id | undefined, error: McpError, early: boolean, revision: Revision): EncodedAnswer {
  const code = error.kind === "resource_not_found" ? featuresOf(revision).notFoundCode : definedCode(error, early);
  const answer = { text: errorText(id, code, error.message, error.data) };
  const status = statusOf(code, early);
  return status === 200 ? answer : { ...answer, status };
}

/**
 * The code of an error, or -32603 for a code that this era reserves or no longer uses. A code that this era defines
 * must describe the current request, so an error that another server sent gets -32603 instead. `UNSUPPORTED_VERSION`
 * also becomes -32603 if the request has already been decoded.
 *
 * Spec: Overview, "Error Codes", https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 */
function definedCode({ code, remote }: McpError, early: boolean): number {
  const defined = code === HEADER_MISMATCH || code === MISSING_CAPABILITY || (early && code === UNSUPPORTED_VERSION);
  if (defined && !remote) return code;
  return (code <= -32020 && code >= -32099) || code === RESOURCE_NOT_FOUND ? INTERNAL_ERROR : code;
}

/**
 * The HTTP status for an error code. Errors after decoding have status 200, except for the codes that this era defines.
 */
function statusOf(code: number, early: boolean): number {
  if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY || code === UNSUPPORTED_VERSION) return 400;
  if (!early) return 200;
  if (code === METHOD_NOT_FOUND) return 404;
  return code === PARSE_ERROR || code === INVALID_REQUEST || code === INVALID_PARAMS ? 400 : 200;
}

function decode(message: RequestMessage, { http }: RequestSource, self: ServerSelf): Call {
  const params = message.params ?? {};
  const meta = params["_meta"];
  const named = http?.protocolHeaders.protocolVersion?.trim();
  // Only the version header selected this era, and the header names an unknown version. Report the unknown version, not
  // the missing `_meta`.
  if (named !== undefined && !isRevision(named) && !isObject(meta)) throw unknownVersion(named, self);
  if (!isObject(meta)) throw missingMeta("_meta");
  const version = meta[META.protocolVersion];
  if (typeof version !== "string") throw missingMeta(`_meta["${META.protocolVersion}"]`);
  const capabilities = meta[META.clientCapabilities];
  if (!isObject(capabilities)) throw missingMeta(`_meta["${META.clientCapabilities}"]`);
  if (http !== undefined) checkHeaders(http, message, version, self.methods);
  if (!isRevision(version) || !self.revisions.includes(version) || featuresOf(version).era !== "stateless") {
    throw unsupported(version, self);
  }
  const info = meta[META.clientInfo];
  const level = meta[META.logLevel];
  if (level !== undefined && !isLoggingLevel(level)) {
    throw new McpError("invalid_params", `${JSON.stringify(level)} is not a log level`);
  }
  const hasInputs = params["inputResponses"] !== undefined || params["requestState"] !== undefined;
  return {
    id: message.id,
    method: message.method,
    params,
    era: statelessServer,
    revision: version,
    // Safe: both are objects whose members are optional and read one by one.
    clientInfo: isObject(info) ? (info as unknown as Implementation) : undefined,
    clientCapabilities: capabilities as ClientCapabilities,
    progressToken: progressTokenOf(meta),
    logLevel: level,
    inputs: hasInputs ? { responses: params["inputResponses"], state: params["requestState"] } : undefined,
    eraResult: message.method === "server/discover" ? discovered(version, self) : undefined,
    session: undefined,
    wrapsOutput: false,
  };
}

/**
 * Throws `header_mismatch` if a required header is missing or differs from the body.
 *
 * Spec: Streamable HTTP, https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
function checkHeaders(http: HttpRequestInfo, message: RequestMessage, version: string, methods: MethodTable): void {
  const { protocolVersion, method, name: nameHeader } = http.protocolHeaders;
  compare("MCP-Protocol-Version", protocolVersion, version);
  compare("Mcp-Method", method, message.method);
  const field = methods.get(message.method)?.nameField;
  if (field === undefined) return;
  const name = message.params?.[field];
  // If the body has no name, the check of the parameters reports that, not the check of the headers.
  if (typeof name === "string") compare("Mcp-Name", nameHeader, name, true);
}

function compare(header: string, sent: string | undefined, body: string, encoded = false): void {
  if (sent === undefined) throw mismatch(`the header ${header} is missing`);
  const value = encoded ? decodeHeaderValue(sent.trim()) : sent.trim();
  if (value === undefined) throw mismatch(`the header ${header} is not valid Base64`);
  if (value !== body) throw mismatch(`the header ${header} is ${quoted(value)} but the body has ${quoted(body)}`);
}

/** Quotes the beginning of a peer's text. The full text could make the answer to a small request large. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}

function missingMeta(what: string): McpError {
  return new McpError("invalid_params", `\`params.${what}\` is missing; every request needs it`);
}

function unsupported(requested: string, self: ServerSelf): McpError {
  const stateless = revisionsOf("stateless", self.revisions);
  // A server with only stateful revisions lists those, so that a client with a common revision continues with the
  // handshake.
  const supported = stateless.length > 0 ? stateless : revisionsOf("stateful", self.revisions);
  const message =
    stateless.length > 0
      ? `protocol version ${quoted(requested)} is not supported; supported: ${supported.join(", ")}`
      : `protocol version ${quoted(requested)} is not supported without a handshake; begin with \`initialize\``;
  return new McpError("unsupported_version", message, { data: { supported, requested: requested.slice(0, 200) } });
}

function unknownVersion(requested: string, { revisions }: ServerSelf): McpError {
  const message = `the header MCP-Protocol-Version is ${quoted(requested)}, which is not supported; supported: ${revisions.join(", ")}`;
  return new McpError("unsupported_version", message, {
    data: { supported: revisions, requested: requested.slice(0, 200) },
  });
}

function discovered(revision: Revision, self: ServerSelf): EraResult {
  const result = {
    supportedVersions: revisionsOf("stateless", self.revisions),
    capabilities: self.capabilities(revision),
    instructions: self.instructions,
  };
  return { result, cache: self.discoverCache };
}

function input(
  call: Call,
  questions: Record<string, Question>,
  state: string | undefined,
  self: ServerSelf,
): EncodedAnswer {
  const asked = Object.keys(questions).length === 0 ? {} : { inputRequests: questions };
  return extended(call, "input_required", { ...asked, requestState: state }, self);
}

function extended(call: Call, resultType: string, members: object, self: ServerSelf): EncodedAnswer {
  const result = { resultType, ...members, _meta: { [META.serverInfo]: self.info } };
  return { text: resultText(call.id, JSON.stringify(result)) };
}

interface Tail {
  text: string;
  members: Record<string, unknown>;
}

const tails = new WeakMap<ServerSelf, Map<string, Tail>>();

/** The members that this era adds to a complete result, created once per server and cache hint. */
function tailFor(row: Pick<MethodRow, "cacheable">, self: ServerSelf, cache: CacheHint): Tail {
  let known = tails.get(self);
  if (known === undefined) {
    known = new Map();
    tails.set(self, known);
  }
  const key = row.cacheable === true ? `${cache.ttlMs} ${cache.scope}` : "";
  let tail = known.get(key);
  if (tail === undefined) {
    const hints = row.cacheable === true ? { ttlMs: cache.ttlMs, cacheScope: cache.scope } : {};
    const members = { resultType: "complete", ...hints, _meta: { [META.serverInfo]: self.info } };
    tail = { text: JSON.stringify(members).slice(1, -1), members };
    // An application may compute its hints, so their number is unlimited. Beyond 256, tails are not stored.
    if (known.size < 256) known.set(key, tail);
  }
  return tail;
}
