import type { CallEnded } from "../server/contract/observer.js";

/** Whether there is what a call names: its handler has run. A failed result of a handler object may be about any name. */
export function isAbout({ outcome, error, failure }: CallEnded): boolean {
  if (outcome === "ok" || outcome === "input_required" || failure !== undefined) return true;
  return outcome === "tool_error" && error !== undefined;
}
