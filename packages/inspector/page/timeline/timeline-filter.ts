import { computed, signal } from "@preact/signals";
import type { EntryKind, EntrySummary } from "../../src/contract/timeline.js";
import { entries } from "../backend/page-state.js";

/** Selects timeline entries. An empty string matches all. */
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

export const NO_FILTER: TimelineFilter = {
  text: "",
  direction: "",
  kind: "",
  method: "",
  connection: "",
  call: "",
  onlyProblems: false,
  onlyFailures: false,
};

/** Maximum number of methods that the filter offers. Other methods can be found by text. */
const MAX_METHODS = 200;

/** The current filter. It outlives the view, so that the view reopens unchanged. */
export const timelineFilter = signal<TimelineFilter>(NO_FILTER);

/** Changes some members of the filter. */
export function updateFilter(change: Partial<TimelineFilter>): void {
  timelineFilter.value = { ...timelineFilter.value, ...change };
}

/** True if an entry matches a filter. */
export function matchesFilter(entry: EntrySummary, filter: TimelineFilter): boolean {
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

/** The entries that match the filter, oldest first. */
export const filteredEntries = computed<readonly EntrySummary[]>(() => {
  const filter = timelineFilter.value;
  return filter === NO_FILTER ? entries.value : entries.value.filter((entry) => matchesFilter(entry, filter));
});

/** The methods in the timeline, sorted by name. */
export const timelineMethods = computed<readonly string[]>(() => {
  const methods = new Set<string>();
  for (const { kind, label } of entries.value) {
    if (methods.size === MAX_METHODS) break;
    if (kind !== "http" && kind !== "event") methods.add(label);
  }
  return [...methods].sort();
});
