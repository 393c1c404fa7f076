import type { RequestStarted } from "../client/contract/observer.js";
import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, RpcError } from "../jsonrpc/error.js";
import { McpError, RESOURCE_NOT_FOUND } from "../protocol/error.js";
import type { CallEnded, CallStarted, SenderRefused } from "../server/contract/observer.js";
import type { NetworkInfo } from "../transport/transport.js";

/** Attributes by name, as defined by the semantic conventions of OpenTelemetry. */
export type Attributes = Record<string, string | number>;

/** The subject of a call or a request. */
export type Subject = Pick<RequestStarted, "method" | "name" | "protocolVersion" | "network">;

/** The attribute for the name of the tool or prompt, by method. */
const NAMED: Readonly<Record<string, string>> = {
  "tools/call": "gen_ai.tool.name",
  "prompts/get": "gen_ai.prompt.name",
};

/** Maximum length of a peer's text in an attribute, in characters. Longer texts are truncated. */
const MAX_VALUE_LENGTH = 1024;

/** True if the method calls a tool or gets a prompt, whose name is part of span names and labels. */
export function isNamed(method: string): boolean {
  return NAMED[method] !== undefined;
}

/**
 * Returns the attributes that spans and metrics of an operation share. Pass `name` only if the tool or prompt is known
 * to exist.
 */
export function operationAttributes(
  { method, protocolVersion, network }: Subject,
  name: string | undefined,
): Attributes {
  const attributes: Attributes = { "mcp.method.name": method };
  const named = NAMED[method];
  if (named !== undefined && name !== undefined) attributes[named] = name;
  if (method === "tools/call") attributes["gen_ai.operation.name"] = "execute_tool";
  if (protocolVersion !== undefined) attributes["mcp.protocol.version"] = protocolVersion;
  if (network !== undefined) addNetwork(attributes, network);
  return attributes;
}

/** The attributes of a session, for metrics. */
export function sessionAttributes(protocolVersion: string | undefined, network: NetworkInfo | undefined): Attributes {
  const attributes: Attributes = {};
  if (protocolVersion !== undefined) attributes["mcp.protocol.version"] = protocolVersion;
  if (network !== undefined) addNetwork(attributes, network);
  return attributes;
}

/** Adds the attributes that spans have and metrics do not, because these attributes can have any number of values. */
export function addSpanAttributes(
  attributes: Attributes,
  subject: Pick<CallStarted | RequestStarted, "method" | "name" | "requestId" | "sessionId">,
): void {
  const { method, name, requestId, sessionId } = subject;
  attributes["jsonrpc.request.id"] = truncate(String(requestId));
  if (sessionId !== undefined) attributes["mcp.session.id"] = sessionId;
  if (name === undefined) return;
  const named = NAMED[method];
  if (named !== undefined) attributes[named] = name.length > MAX_NAME_LENGTH ? name.slice(0, MAX_NAME_LENGTH) : name;
  else if (method.startsWith("resources/")) attributes["mcp.resource.uri"] = truncate(name);
}

function addNetwork(attributes: Attributes, { transport, protocol, address, port }: NetworkInfo): void {
  if (transport !== undefined) attributes["network.transport"] = transport;
  if (protocol !== undefined) attributes["network.protocol.name"] = protocol;
  if (address !== undefined) attributes["server.address"] = address;
  if (port !== undefined) attributes["server.port"] = port;
}

export function truncate(text: string): string {
  return text.length > MAX_VALUE_LENGTH ? text.slice(0, MAX_VALUE_LENGTH) : text;
}

/** The failure of an operation, with values for the attributes of the conventions. */
export interface Failure {
  /** Undefined if the operation does not count as a failure of this side. */
  readonly type: string | undefined;
  readonly code: string | undefined;
  /** The message, if the error is an `McpError` or an error response from the server. Undefined otherwise. */
  readonly message: string | undefined;
}

/** Error codes for a fault of the caller. The conventions do not count them as errors of the server. */
const CALLER_ERRORS: ReadonlySet<number> = new Set([
  PARSE_ERROR,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  INVALID_PARAMS,
  RESOURCE_NOT_FOUND,
]);

/** The failure of a call to a server. `code` is the error code in the answer to the call. */
export function serverFailure(error: unknown, code: number, cancelled: boolean): Failure {
  // A caller that cancelled receives no answer, so there is no code.
  if (cancelled) return { type: "cancelled", code: undefined, message: undefined };
  const message = McpError.is(error) ? error.message : undefined;
  return { type: CALLER_ERRORS.has(code) ? undefined : String(code), code: String(code), message };
}

/** The failure of a client's request: an error from the server, or a local error. */
export function clientFailure(error: unknown): Failure {
  if (error instanceof RpcError || (McpError.is(error) && error.remote)) {
    return { type: String(error.code), code: String(error.code), message: error.message };
  }
  if (McpError.is(error)) return { type: error.kind, code: undefined, message: error.message };
  return { type: "_OTHER", code: undefined, message: undefined };
}

/** The reason why a call failed: the failure of its handler, or the kind of its error. */
export function failedKind({ outcome, error, failure }: CallEnded): string {
  if (failure !== undefined) return failure;
  return outcome === "tool_error" ? "tool_error" : McpError.from(error).kind;
}

/**
 * True if the outcome of a call proves that the tool or prompt exists. A failed result from a handler object does not
 * prove this, because a handler object also answers calls to unknown tools.
 */
export function targetExists({ outcome, error, failure }: CallEnded): boolean {
  if (outcome === "ok" || outcome === "input_required" || failure !== undefined) return true;
  return outcome === "tool_error" && error !== undefined;
}

/**
 * Names that may become labels and span names. Learns only names of tools and prompts that a call has proved to exist,
 * and a limited number of error codes and reasons. Otherwise callers could create any number of labels.
 */
export class KnownNames {
  readonly #names = new Set<string>();
  readonly #max: number;

  /** `max` is the maximum number of names to learn. Later names stay unknown. */
  constructor(max: number) {
    this.#max = max;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Learns a name. Returns true if the name is known now. */
  learn(name: string): boolean {
    if (this.#names.has(name)) return true;
    if (this.#names.size >= this.#max || name.length > MAX_NAME_LENGTH) return false;
    this.#names.add(name);
    return true;
  }
}

/** Maximum length of a name that becomes a label, in characters. The protocol recommends at most 128. */
const MAX_NAME_LENGTH = 128;

/** Maximum number of tool and prompt names to learn. Further names count as unknown. */
export const MAX_NAMES = 2000;

/** Stands for a name that is not known. */
export const OTHER = "_OTHER";

/**
 * Maximum number of refusal reasons to learn. The library has about 25 reasons, and an `authenticate` function may add
 * more. Further reasons become `_OTHER`.
 */
export const MAX_REASONS = 100;

/** Returns the label for a refused sender: the reason of the refusal, or the HTTP status if there is no reason. */
export function refusedReason({ status, reason }: SenderRefused, reasons: KnownNames): string {
  if (typeof reason !== "string") return `http_${status}`;
  return reasons.learn(reason) ? reason : OTHER;
}
