import type { SharedSession } from "../../src/contract/inspector-state.js";
import { currentView, entries, inspectorState, reached } from "../backend/page-state.js";

/** Fills the page from the session that it was saved with; nothing will change it. */
export function showShared({ connections, entries: kept }: SharedSession): void {
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
  reached.value = "open";
  currentView.value = "timeline";
}
