import {
  HEADER_MISMATCH,
  isRevision,
  MISSING_CAPABILITY,
  shownRevision,
  UNSUPPORTED_VERSION,
} from "@parley/mcp/protocol";
import { type AnyMessage, objectIn } from "./message-facts.js";

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
