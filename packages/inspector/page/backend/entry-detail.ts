import type { EntryDetail } from "../../src/contract/timeline.js";
import { act } from "./act.js";
import { sharedSession } from "./shared-session.js";

/** An entry of the timeline as a whole: from the session that the page was saved with, or else from the inspector. */
export async function entryDetail(seq: number): Promise<EntryDetail> {
  const shared = sharedSession();
  if (shared === undefined) return act("entry", { seq });
  const found = shared.entries.find(({ summary }) => summary.seq === seq);
  if (found === undefined) throw new Error(`this file has no entry ${seq}`);
  return found;
}
