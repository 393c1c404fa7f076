import type { InspectorEvent } from "../../src/contract/inspector-state.js";
import { pageToken } from "./act.js";
import { addEntries, entries, inspectorState, reached } from "./page-state.js";

const RETRY_MS = 1_000;

/** Follows what the inspector tells, for as long as the page is open; a lost stream is opened again. */
export async function followEvents(): Promise<never> {
  for (;;) {
    await readEvents().catch(() => undefined);
    if (reached.value !== "refused") reached.value = "gone";
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function readEvents(): Promise<void> {
  const from = (entries.value.at(-1)?.seq ?? -1) + 1;
  // `fetch`, because an `EventSource` can send no header, and the token must not stand in an address.
  const response = await fetch(`/api/events?from=${from}`, { headers: { "x-parley-token": pageToken() } });
  if (response.status === 401 || response.status === 403) reached.value = "refused";
  if (!response.ok || response.body === null) return;
  reached.value = "open";
  let rest = "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") take(line);
  }
}

function take(line: string): void {
  // The server side of the same package writes these lines.
  const event = JSON.parse(line) as InspectorEvent;
  if (event.type === "entries") addEntries(event.entries);
  else {
    const { first, next } = event.state.timeline;
    // Another process, or a cleared timeline: what the page kept is of the past.
    if (entries.value.some(({ seq }) => seq >= next)) entries.value = [];
    else if ((entries.value[0]?.seq ?? first) < first) entries.value = entries.value.filter(({ seq }) => seq >= first);
    inspectorState.value = event.state;
  }
}
