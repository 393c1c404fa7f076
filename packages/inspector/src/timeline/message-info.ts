import {
  HEADER_MISMATCH,
  isRevision,
  MISSING_CAPABILITY,
  shownRevision,
  UNSUPPORTED_VERSION,
} from "@parley/mcp/protocol";
import type { EntryKind } from "../contract/timeline.js";

/** A JSON-RPC object that is not validated. */
export type AnyMessage = Readonly<Record<string, unknown>>;

/** Maximum length of a name or a URI in a summary, in characters. Longer ones are truncated. */
const MAX_ABOUT_LENGTH = 300;
/** Maximum length of a method in a summary, in characters. Longer methods are truncated. */
const MAX_LABEL_LENGTH = 200;

/** The properties of a message that can be read without its context. */
export interface MessageInfo {
  readonly kind: Exclude<EntryKind, "http" | "event">;
  readonly id: string | number | undefined;
  /** Present for requests and notifications. */
  readonly method: string | undefined;
  /** The tool, prompt, URI or task that the message names. */
  readonly about: string | undefined;
  readonly failed: boolean;
}

export function messageInfo(message: AnyMessage): MessageInfo {
  const id = idOf(message["id"]);
  const method = typeof message["method"] === "string" ? message["method"].slice(0, MAX_LABEL_LENGTH) : undefined;
  if (method !== undefined) {
    const kind = message["id"] === undefined ? "notification" : "request";
    return { kind, id, method, about: aboutOf(objectIn(message, "params")), failed: false };
  }
  const result = objectIn(message, "result");
  const kind = Object.hasOwn(message, "result") ? "result" : "error";
  return { kind, id, method, about: undefined, failed: kind === "error" || result?.["isError"] === true };
}

/** Returns a member of a message if the member is an object. */
export function objectIn(value: AnyMessage | undefined, name: string): AnyMessage | undefined {
  const member = value !== undefined && Object.hasOwn(value, name) ? value[name] : undefined;
  // Safe: an object other than an array is a record of JSON.
  return typeof member === "object" && member !== null && !Array.isArray(member) ? (member as AnyMessage) : undefined;
}

/** Returns a JSON-RPC id or a progress token, if the value is one. */
export function idOf(value: unknown): string | number | undefined {
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}

function aboutOf(params: AnyMessage | undefined): string | undefined {
  if (params === undefined) return undefined;
  const reference = objectIn(params, "ref");
  const named = [params["name"], params["uri"], reference?.["name"], reference?.["uri"], params["taskId"]];
  return named.find((name) => typeof name === "string")?.slice(0, MAX_ABOUT_LENGTH);
}

/** The method of the probe, the request that checks whether a server supports a revision without sessions. */
export const PROBE_METHOD = "server/discover";
/** The note for a probe that the server refused. */
const NOT_OFFERED = "not offered: the client falls back to initialize";

/**
 * Returns a note for an error that answers a probe and only means that the server speaks an older revision. Undefined
 * for other errors, which end the attempt to connect.
 *
 * Spec: Versioning, "Protocol Version Negotiation",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#protocol-version-negotiation
 */
export function refusedProbeNote(status: number | undefined, message: AnyMessage = {}): string | undefined {
  if (status !== undefined && isUnrelatedToRevision(status)) return undefined;
  const error = objectIn(message, "error");
  const code = error?.["code"];
  if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY) return undefined;
  const supported = objectIn(error, "data")?.["supported"];
  if (code !== UNSUPPORTED_VERSION || !Array.isArray(supported) || supported.length === 0) return NOT_OFFERED;
  const hasHandshake = (revision: unknown) => isRevision(revision) && shownRevision(revision).era === "stateful";
  return supported.some(hasHandshake) ? NOT_OFFERED : undefined;
}

/** True for a status that reports a missing login, an overload or a failure, not an unsupported revision. */
function isUnrelatedToRevision(status: number): boolean {
  return status >= 500 || status === 401 || status === 403 || status === 429;
}
