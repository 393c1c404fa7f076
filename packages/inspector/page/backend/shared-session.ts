import type { SharedSession } from "../../src/contract/inspector-state.js";

/** The element of a shared file that holds the session; the server side of the same package writes it. */
const ELEMENT = "shared-session";

let read: { readonly session: SharedSession | undefined } | undefined;

/**
 * The session that this page was saved with; undefined in a page that an inspector serves. A page with a session never sends a
 * request, whatever became of the file.
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
    // A file that was cut or edited shows nothing, and still asks nobody.
  }
  return { format: "parley-shared-session", ...empty };
}

/** The outline alone: the page renders everything inert, and the file has no powers to lose. */
function isSession(value: unknown): value is SharedSession {
  if (typeof value !== "object" || value === null) return false;
  const { format, connections, entries } = value as Partial<Record<keyof SharedSession, unknown>>;
  return format === "parley-shared-session" && Array.isArray(connections) && Array.isArray(entries);
}
