import type { InspectorEvent } from "../../src/contract/inspector-state.js";
import { pageToken } from "./act.js";
import { addEntries, entries, inspectorState, inspectorStatus } from "./page-state.js";

const RETRY_MS = 1_000;

/** Applies the events of the inspector for as long as the page is open. Reopens the event stream whenever it ends. */
export async function followEvents(): Promise<never> {
  for (;;) {
    await readEvents().catch(() => undefined);
    if (inspectorStatus.value !== "refused") inspectorStatus.value = "gone";
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function readEvents(): Promise<void> {
  const from = (entries.value.at(-1)?.seq ?? -1) + 1;
  // Uses `fetch`, because `EventSource` cannot send headers and the token must not appear in an address.
  const response = await fetch(`/api/events?from=${from}`, { headers: { "x-parley-token": pageToken() } });
  if (response.status === 401 || response.status === 403) inspectorStatus.value = "refused";
  if (!response.ok || response.body === null) return;
  inspectorStatus.value = "open";
  let rest = "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") applyEvent(line);
  }
}

function applyEvent(line: string): void {
  // The server side of this package writes these lines.
  const event = JSON.parse(line) as InspectorEvent;
  if (event.type === "entries") addEntries(event.entries);
  else {
    const { first, next } = event.state.timeline;
    // A cached entry beyond the timeline means that another inspector has started, so all cached entries are stale.
    // Otherwise, only entries that the inspector has evicted or cleared are dropped.
    if (entries.value.some(({ seq }) => seq >= next)) entries.value = [];
    else if ((entries.value[0]?.seq ?? first) < first) entries.value = entries.value.filter(({ seq }) => seq >= first);
    inspectorState.value = event.state;
  }
}
