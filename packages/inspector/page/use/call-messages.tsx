import { useMemo } from "preact/hooks";
import type { EntrySummary } from "../../src/contract/timeline.js";
import { entries, showEntry } from "../backend/page-state.js";

/**
 * A link to the first message of a call in the timeline, with the number of messages, and a link to the first message
 * from the server that violates the published schema.
 */
export function CallMessages({ call }: { readonly call: string }) {
  const all = entries.value;
  const { first, count, wrong } = useMemo(() => messagesOf(call, all), [call, all]);
  if (first === undefined) return null;
  const places = wrong?.problems === 1 ? "1 place" : `${wrong?.problems} places`;
  return (
    <p class="use-messages">
      <button type="button" class="parts-link" onClick={() => showEntry(first.seq)}>
        {count === 1 ? "1 message in the timeline" : `${count} messages in the timeline`}
      </button>
      {wrong !== undefined && (
        <button type="button" class="parts-link use-wrong" onClick={() => showEntry(wrong.seq)}>
          A message from the server violates the published schema in {places}
        </button>
      )}
    </p>
  );
}

function messagesOf(call: string, all: readonly EntrySummary[]) {
  let first: EntrySummary | undefined;
  let wrong: EntrySummary | undefined;
  let count = 0;
  for (const entry of all) {
    if (entry.call !== call || entry.direction === undefined) continue;
    first ??= entry;
    count++;
    if (entry.direction === "received" && entry.problems > 0) wrong ??= entry;
  }
  return { first, wrong, count };
}
