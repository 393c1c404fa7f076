import type { EntrySummary } from "../../src/contract/timeline.js";
import { formatBytes } from "../parts/format-bytes.js";
import { formatMs } from "../parts/format-ms.js";

const ARROWS = { sent: "→", received: "←" } as const;

/** Formats a time as seconds since the inspector started. */
const clock = (ms: number) => `${(ms / 1_000).toFixed(3)} s`;

/** The column titles. Hidden from screen readers, because each row is clear without them. */
export function EntryColumns() {
  return (
    <div class="timeline-row timeline-columns" aria-hidden="true">
      <span>Time</span>
      <span>Direction</span>
      <span>Kind</span>
      <span>Message</span>
      <span>Duration</span>
      <span>Size</span>
    </div>
  );
}

/** One timeline entry as a row. */
export function EntryRow({ entry }: { readonly entry: EntrySummary }) {
  const { direction, about, latencyMs, problems, note } = entry;
  return (
    <div class="timeline-row">
      <span class="timeline-figure soft">{clock(entry.ms)}</span>{" "}
      <span class="timeline-direction">{direction === undefined ? "" : `${ARROWS[direction]} ${direction}`}</span>{" "}
      <span class={`timeline-kind ${note === undefined ? `timeline-kind-${entry.kind}` : "soft"}`}>{entry.kind}</span>{" "}
      <span class="timeline-what">
        {entry.failed && <span class="timeline-failed">failed </span>}
        {problems > 0 && <span class="timeline-wrong">⚠ {problems === 1 ? "1 problem" : `${problems} problems`} </span>}
        <span class="timeline-label">{entry.label}</span>
        {about !== undefined && <span class="timeline-about soft"> {about}</span>}
        {note !== undefined && <span class="timeline-note soft"> {note}</span>}
      </span>{" "}
      <span class="timeline-figure">{latencyMs === undefined ? "" : formatMs(latencyMs)}</span>{" "}
      <span class="timeline-figure soft">{entry.bytes === 0 ? "" : formatBytes(entry.bytes)}</span>
    </div>
  );
}
