import { computed, signal } from "@preact/signals";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import type { InspectorState } from "../../src/contract/inspector-state.js";
import type { EntrySummary } from "../../src/contract/timeline.js";

/** The views of the page, in the order of its tabs. */
export const VIEWS = ["server", "use", "timeline", "model", "eras", "session"] as const;
export type ViewId = (typeof VIEWS)[number];

/** The last state that the inspector sent. Undefined before the first one. */
export const inspectorState = signal<InspectorState | undefined>(undefined);

/** Maximum number of cached timeline entries. Beyond it, the oldest are dropped. The inspector has the same limit. */
const MAX_ENTRIES = 20_000;

/** The timeline, oldest first. */
export const entries = signal<readonly EntrySummary[]>([]);

/**
 * The state of the event stream from the inspector: `gone` after the stream has ended, usually because the process has
 * ended; `refused` if this tab has no valid token.
 */
export const inspectorStatus = signal<"waiting" | "open" | "gone" | "refused">("waiting");

/** The id of the selected connection. */
export const chosenConnection = signal<string | undefined>(undefined);

let lastShown: string | undefined;

/**
 * The connection on display: the selected one, else the one displayed before, else the first. A new connection is
 * selected before the state of the inspector contains it. Until then, the connection displayed before stays.
 */
export const currentConnection = computed<ConnectionInfo | undefined>(() => {
  const all = inspectorState.value?.connections ?? [];
  const byId = (wanted: string | undefined) => all.find(({ id }) => id === wanted);
  const shown = byId(chosenConnection.value) ?? byId(lastShown) ?? all[0];
  lastShown = shown?.id;
  return shown;
});

/** The view on display. */
export const currentView = signal<ViewId>("use");

/** The sequence number of the timeline entry whose details are open. */
export const chosenEntry = signal<number | undefined>(undefined);

/** Opens an entry in the timeline. */
export function showEntry(seq: number): void {
  chosenEntry.value = seq;
  currentView.value = "timeline";
}

/** Appends new entries and drops the oldest beyond the limit. */
export function addEntries(more: readonly EntrySummary[]): void {
  const known = entries.value;
  const last = known.at(-1)?.seq ?? -1;
  const fresh = more.filter(({ seq }) => seq > last);
  if (fresh.length > 0) entries.value = [...known, ...fresh].slice(-MAX_ENTRIES);
}
