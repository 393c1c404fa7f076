import type { SharedSession } from "../../src/contract/inspector-state.js";

/**
 * The id of the element that holds the session in a shared file. The server side of this package writes the element.
 */
const ELEMENT = "shared-session";

let read: { readonly session: SharedSession | undefined } | undefined;

/**
 * The session embedded in this page. Undefined if an inspector serves the page. A page with a session sends no
 * requests, even if the session is damaged.
 */
export function sharedSession(): SharedSession | undefined {
  read ??= { session: readSession() };
  return read.session;
}

function readSession(): SharedSession | undefined {
  const element = document.getElementById(ELEMENT);
  if (!(element instanceof HTMLScriptElement) || element.type !== "application/json") return undefined;
  const empty = { exported: "", connections: [], entries: [], leftOut: 0 };
  try {
    const value: unknown = JSON.parse(element.text);
    if (isSession(value)) return value;
  } catch {
    // A truncated or edited file shows nothing, and still sends no requests.
  }
  return { format: "parley-shared-session", ...empty };
}

/**
 * Checks only the outline. Wrong content is harmless, because the page renders all content as inert text and a shared
 * file has no access to anything.
 */
function isSession(value: unknown): value is SharedSession {
  if (typeof value !== "object" || value === null) return false;
  const { format, connections, entries } = value as Partial<Record<keyof SharedSession, unknown>>;
  return format === "parley-shared-session" && Array.isArray(connections) && Array.isArray(entries);
}
