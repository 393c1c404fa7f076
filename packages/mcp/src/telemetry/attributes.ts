import type { RequestStarted } from "../client/contract/observer.js";
import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, RpcError } from "../jsonrpc/error.js";
import { McpError, RESOURCE_NOT_FOUND } from "../protocol/error.js";
import type { CallEnded, CallStarted, SenderRefused } from "../server/contract/observer.js";
import type { NetworkInfo } from "../transport/transport.js";

/** Attributes by the names of the semantic conventions. */
export type Attributes = Record<string, string | number>;

/** The subject of a call or a request. */
export type Subject = Pick<RequestStarted, "method" | "name" | "protocolVersion" | "network">;

/** The attribute that has the name of what a method is about, where that has few values. */
const NAMED: Readonly<Record<string, string>> = {
  "tools/call": "gen_ai.tool.name",
  "prompts/get": "gen_ai.prompt.name",
};

/** Longer texts of peers are cut off in attributes. */
const MAX_VALUE_LENGTH = 1024;

/** Whether a method is about a tool or a prompt, whose name belongs into names of spans and labels. */
export function isNamed(method: string): boolean {
  return NAMED[method] !== undefined;
}

/** The attributes that spans and metrics of an operation have in common; `name` is left out unless it is known to exist. */
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

/** The attributes of a session that metrics have. */
export function sessionAttributes(protocolVersion: string | undefined, network: NetworkInfo | undefined): Attributes {
  const attributes: Attributes = {};
  if (protocolVersion !== undefined) attributes["mcp.protocol.version"] = protocolVersion;
  if (network !== undefined) addNetwork(attributes, network);
  return attributes;
}

/** The attributes that only spans have, because they have any number of values. */
export function addSpanAttributes(
  attributes: Attributes,
  subject: Pick<CallStarted | RequestStarted, "method" | "name" | "requestId" | "sessionId">,
): void {
  const { method, name, requestId, sessionId } = subject;
  attributes["jsonrpc.request.id"] = cut(String(requestId));
  if (sessionId !== undefined) attributes["mcp.session.id"] = sessionId;
  if (name === undefined) return;
  const named = NAMED[method];
  if (named !== undefined) attributes[named] = name.length > MAX_NAME_LENGTH ? name.slice(0, MAX_NAME_LENGTH) : name;
  else if (method.startsWith("resources/")) attributes["mcp.resource.uri"] = cut(name);
}

function addNetwork(attributes: Attributes, { transport, protocol, address, port }: NetworkInfo): void {
  if (transport !== undefined) attributes["network.transport"] = transport;
  if (protocol !== undefined) attributes["network.protocol.name"] = protocol;
  if (address !== undefined) attributes["server.address"] = address;
  if (port !== undefined) attributes["server.port"] = port;
}

export function cut(text: string): string {
  return text.length > MAX_VALUE_LENGTH ? text.slice(0, MAX_VALUE_LENGTH) : text;
}

/** How an operation failed, in the attributes of the conventions. */
export interface Failure {
  /** Undefined if the operation counts as no failure of this side. */
  readonly type: string | undefined;
  readonly code: string | undefined;
  /** The message that the other side gets; undefined where it may get less than the error says. */
  readonly message: string | undefined;
}

/** Codes that say that the caller sent what could not be served; for the one who serves they are no errors. */
const OF_THE_CALLER: ReadonlySet<number> = new Set([
  PARSE_ERROR,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  INVALID_PARAMS,
  RESOURCE_NOT_FOUND,
]);

/** How a call of a server failed; `code` is what it answers with. */
export function serverFailure(error: unknown, code: number, cancelled: boolean): Failure {
  // Nothing is answered to a caller who gave up.
  if (cancelled) return { type: "cancelled", code: undefined, message: undefined };
  const message = McpError.is(error) ? error.message : undefined;
  return { type: OF_THE_CALLER.has(code) ? undefined : String(code), code: String(code), message };
}

/** How a request of a client failed: with an error of the server, or on this side of it. */
export function clientFailure(error: unknown): Failure {
  if (error instanceof RpcError || (McpError.is(error) && error.remote)) {
    return { type: String(error.code), code: String(error.code), message: error.message };
  }
  if (McpError.is(error)) return { type: error.kind, code: undefined, message: error.message };
  return { type: "_OTHER", code: undefined, message: undefined };
}

/** Why a call failed: how its handler did, or the kind of its error. */
export function failedKind({ outcome, error, failure }: CallEnded): string {
  if (failure !== undefined) return failure;
  return outcome === "tool_error" ? "tool_error" : McpError.from(error).kind;
}

/** Whether there is what a call names: its handler has run. A failed result of a handler object may be about any name. */
export function isAbout({ outcome, error, failure }: CallEnded): boolean {
  if (outcome === "ok" || outcome === "input_required" || failure !== undefined) return true;
  return outcome === "tool_error" && error !== undefined;
}

/**
 * Names of tools, prompts and methods that may become labels and names of spans: those that a call has proved to exist. Whoever
 * calls what does not exist could otherwise create any number of them.
 */
export class KnownNames {
  readonly #names = new Set<string>();
  readonly #most: number;

  /** `most` is how many names are learnt; all later ones stay unknown. */
  constructor(most: number) {
    this.#most = most;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Learns a name that exists. Returns whether it is known now. */
  learn(name: string): boolean {
    if (this.#names.has(name)) return true;
    if (this.#names.size >= this.#most || name.length > MAX_NAME_LENGTH) return false;
    this.#names.add(name);
    return true;
  }
}

/** Longer names are never labels. The protocol recommends at most 128 characters. */
const MAX_NAME_LENGTH = 128;

/** How many names of one kind are learnt. */
export const MAX_NAMES = 2000;

/** In place of a name that is not known. */
export const OTHER = "_OTHER";

/** How many reasons for refused senders are learnt; the library has some 25, an `authenticate` may have others. */
export const MAX_REASONS = 100;

/** The label for why a sender was refused; the status where no reason was given. */
export function refusedReason({ status, reason }: SenderRefused, reasons: KnownNames): string {
  if (typeof reason !== "string") return `http_${status}`;
  return reasons.learn(reason) ? reason : OTHER;
}
