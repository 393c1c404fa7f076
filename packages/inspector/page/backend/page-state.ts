import { computed, signal } from "@preact/signals";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import type { InspectorState } from "../../src/contract/inspector-state.js";
import type { EntrySummary } from "../../src/contract/timeline.js";

/** The views of the page, in the order of its tabs. */
export const VIEWS = ["server", "use", "timeline", "model", "eras", "session"] as const;
export type ViewId = (typeof VIEWS)[number];

/** What the inspector last told; undefined before the first time. */
export const inspectorState = signal<InspectorState | undefined>(undefined);

/** Entries that the page keeps; the inspector keeps no more. */
const MOST_ENTRIES = 20_000;

/** The timeline, oldest first. */
export const entries = signal<readonly EntrySummary[]>([]);

/** Whether the inspector is reached: `gone` when its process has ended, `refused` when this tab has no token. */
export const reached = signal<"waiting" | "open" | "gone" | "refused">("waiting");

/** The id of the connection that is shown. */
export const chosenConnection = signal<string | undefined>(undefined);

let lastShown: string | undefined;

/**
 * The connection that is shown: the chosen one, or the one that was shown before it, or the first. One that was just made is chosen
 * before the inspector has told of it.
 */
export const currentConnection = computed<ConnectionInfo | undefined>(() => {
  const all = inspectorState.value?.connections ?? [];
  const byId = (wanted: string | undefined) => all.find(({ id }) => id === wanted);
  const shown = byId(chosenConnection.value) ?? byId(lastShown) ?? all[0];
  lastShown = shown?.id;
  return shown;
});

/** The view that is shown. */
export const currentView = signal<ViewId>("use");

/** The entry of the timeline that is shown as a whole. */
export const chosenEntry = signal<number | undefined>(undefined);

/** Goes to an entry of the timeline. */
export function showEntry(seq: number): void {
  chosenEntry.value = seq;
  currentView.value = "timeline";
}

/** Takes entries in; the oldest are forgotten. */
export function addEntries(more: readonly EntrySummary[]): void {
  const known = entries.value;
  const last = known.at(-1)?.seq ?? -1;
  const fresh = more.filter(({ seq }) => seq > last);
  if (fresh.length > 0) entries.value = [...known, ...fresh].slice(-MOST_ENTRIES);
}
