import type { SharedSession } from "../../src/contract/inspector-state.js";
import { currentView, entries, inspectorState, inspectorStatus } from "../backend/page-state.js";

/** Fills the page from the session that is embedded in a shared file. The state never changes afterwards. */
export function loadSharedSession({ connections, entries: kept }: SharedSession): void {
  const summaries = kept.map(({ summary }) => summary);
  entries.value = summaries;
  inspectorState.value = {
    version: "",
    targets: [],
    connections,
    calls: [],
    questions: [],
    subscriptions: [],
    modelCommand: false,
    timeline: {
      first: summaries[0]?.seq ?? 0,
      next: (summaries.at(-1)?.seq ?? -1) + 1,
      bytes: summaries.reduce((sum, { bytes }) => sum + bytes, 0),
    },
  };
  inspectorStatus.value = "open";
  currentView.value = "timeline";
}
