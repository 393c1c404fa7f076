import {
  HEADER_MISMATCH,
  isRevision,
  MISSING_CAPABILITY,
  shownRevision,
  UNSUPPORTED_VERSION,
} from "@parley/mcp/protocol";
import type { EntryKind } from "../contract/timeline.js";

/** A JSON-RPC object, of which nothing is known yet. */
export type AnyMessage = Readonly<Record<string, unknown>>;

/** Characters of a name or an address in a summary. */
const MOST_ABOUT = 300;
/** Characters of a method in a summary. */
const MOST_LABEL = 200;

/** What a message is by itself. */
export interface MessageFacts {
  readonly kind: Exclude<EntryKind, "http" | "event">;
  readonly id: string | number | undefined;
  /** Of requests and notifications. */
  readonly method: string | undefined;
  /** The tool, prompt, URI or task that it names. */
  readonly about: string | undefined;
  readonly failed: boolean;
}

export function factsOf(message: AnyMessage): MessageFacts {
  const id = idOf(message["id"]);
  const method = typeof message["method"] === "string" ? message["method"].slice(0, MOST_LABEL) : undefined;
  if (method !== undefined) {
    const kind = message["id"] === undefined ? "notification" : "request";
    return { kind, id, method, about: aboutOf(objectIn(message, "params")), failed: false };
  }
  const result = objectIn(message, "result");
  const kind = Object.hasOwn(message, "result") ? "result" : "error";
  return { kind, id, method, about: undefined, failed: kind === "error" || result?.["isError"] === true };
}

/** A member of a message that is an object. */
export function objectIn(value: AnyMessage | undefined, name: string): AnyMessage | undefined {
  const member = value !== undefined && Object.hasOwn(value, name) ? value[name] : undefined;
  // Safe: an object that is no array is a record of JSON.
  return typeof member === "object" && member !== null && !Array.isArray(member) ? (member as AnyMessage) : undefined;
}

/** An id of JSON-RPC or a token of MCP. */
export function idOf(value: unknown): string | number | undefined {
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}

function aboutOf(params: AnyMessage | undefined): string | undefined {
  if (params === undefined) return undefined;
  const reference = objectIn(params, "ref");
  const named = [params["name"], params["uri"], reference?.["name"], reference?.["uri"], params["taskId"]];
  return named.find((name) => typeof name === "string")?.slice(0, MOST_ABOUT);
}

/** The request by which a client finds out whether a server speaks a revision without sessions. */
export const PROBE_METHOD = "server/discover";
/** What the refusal of a probe means. */
const NOT_OFFERED = "not offered: the client falls back to initialize";

/**
 * What an error that answers a probe means, where it says no more than that the server speaks an older revision. Undefined for other
 * errors, which end the attempt to connect.
 *
 * Spec: Versioning, "Protocol Version Negotiation",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#protocol-version-negotiation
 */
export function refusedProbeNote(status: number | undefined, message: AnyMessage = {}): string | undefined {
  if (status !== undefined && tellsOfOthers(status)) return undefined;
  const error = objectIn(message, "error");
  const code = error?.["code"];
  if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY) return undefined;
  const supported = objectIn(error, "data")?.["supported"];
  if (code !== UNSUPPORTED_VERSION || !Array.isArray(supported) || supported.length === 0) return NOT_OFFERED;
  const hasHandshake = (revision: unknown) => isRevision(revision) && shownRevision(revision).era === "stateful";
  return supported.some(hasHandshake) ? NOT_OFFERED : undefined;
}

/** Statuses that tell of logins, of load and of failures, and nothing of revisions. */
function tellsOfOthers(status: number): boolean {
  return status >= 500 || status === 401 || status === 403 || status === 429;
}
