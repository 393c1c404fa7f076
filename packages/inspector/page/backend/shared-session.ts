import type { SharedSession } from "../../src/contract/inspector-state.js";

/** The session that this page was saved with; undefined in a page that an inspector serves. */
export function sharedSession(): SharedSession | undefined {
  return undefined;
}
