import { computed, signal } from "@preact/signals";
import type { EntryKind, EntrySummary } from "../../src/contract/timeline.js";
import { entries } from "../backend/page-state.js";

/** Which entries of the timeline are shown. An empty text stands for any. */
export interface TimelineFilter {
  readonly text: string;
  readonly direction: "" | "sent" | "received";
  readonly kind: "" | EntryKind;
  readonly method: string;
  readonly connection: string;
  readonly call: string;
  readonly onlyProblems: boolean;
  readonly onlyFailures: boolean;
}

export const EVERYTHING: TimelineFilter = {
  text: "",
  direction: "",
  kind: "",
  method: "",
  connection: "",
  call: "",
  onlyProblems: false,
  onlyFailures: false,
};

/** Methods that the filter offers; the others are found by text. */
const MOST_METHODS = 200;

/** Which entries the timeline shows; it outlives the view, so that coming back shows the same. */
export const timelineFilter = signal<TimelineFilter>(EVERYTHING);

/** Changes parts of the filter. */
export function narrowTimeline(change: Partial<TimelineFilter>): void {
  timelineFilter.value = { ...timelineFilter.value, ...change };
}

/** Whether an entry passes a filter. */
export function passesFilter(entry: EntrySummary, filter: TimelineFilter): boolean {
  if (filter.direction !== "" && entry.direction !== filter.direction) return false;
  if (filter.kind !== "" && entry.kind !== filter.kind) return false;
  if (filter.method !== "" && entry.label !== filter.method) return false;
  if (filter.connection !== "" && entry.connection !== filter.connection) return false;
  if (filter.call !== "" && entry.call !== filter.call) return false;
  if (filter.onlyProblems && entry.problems === 0) return false;
  if (filter.onlyFailures && !entry.failed) return false;
  if (filter.text === "") return true;
  const text = filter.text.toLowerCase();
  return entry.label.toLowerCase().includes(text) || (entry.about?.toLowerCase().includes(text) ?? false);
}

/** The entries that pass the filter, oldest first. */
export const passingEntries = computed<readonly EntrySummary[]>(() => {
  const filter = timelineFilter.value;
  return filter === EVERYTHING ? entries.value : entries.value.filter((entry) => passesFilter(entry, filter));
});

/** The methods that occur, in order of their names. */
export const occurringMethods = computed<readonly string[]>(() => {
  const methods = new Set<string>();
  for (const { kind, label } of entries.value) {
    if (methods.size === MOST_METHODS) break;
    if (kind !== "http" && kind !== "event") methods.add(label);
  }
  return [...methods].sort();
});
