import { useMemo } from "preact/hooks";
import type { EntrySummary } from "../../src/contract/timeline.js";
import { chosenEntry, entries } from "../backend/page-state.js";
import { formatMs } from "../parts/format-ms.js";
import { entriesOfCall } from "./related-entries.js";
import { MAX_WATERFALL_ROWS, type WaterfallRow, waterfallOf } from "./waterfall.js";

const KIND_WORDS = { request: "request", question: "from the server", points: "" } as const;

/** The entries of one call over time, as a table. The last column draws the start and the duration. */
export function WaterfallChart({ entry }: { readonly entry: EntrySummary }) {
  const all = entries.value;
  const related = useMemo(() => entriesOfCall(entry, all), [entry, all]);
  const rows = useMemo(() => waterfallOf(related), [related]);
  const start = related[0]?.ms ?? entry.ms;
  const span = Math.max((related.at(-1)?.ms ?? start) - start, 0.001);
  return (
    <div class="timeline-waterfall">
      <table>
        <caption>
          {entry.call === undefined ? "This exchange" : "This call"}: {formatMs(span)} from the first to the last entry
        </caption>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Start</th>
            <th scope="col">Duration</th>
            <th scope="col">Timeline</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Bar key={row.seq} row={row} start={start} span={span} chosen={row.seq === entry.seq} />
          ))}
        </tbody>
      </table>
      {rows.length === MAX_WATERFALL_ROWS && <p class="soft">Only the first {MAX_WATERFALL_ROWS} rows are shown.</p>}
    </div>
  );
}

interface BarProps {
  readonly row: WaterfallRow;
  readonly start: number;
  readonly span: number;
  readonly chosen: boolean;
}

function Bar({ row, start, span, chosen }: BarProps) {
  const percent = (ms: number) => ((ms - start) / span) * 100;
  const end = row.endMs ?? start + span;
  const taken =
    row.kind === "points" ? `${row.count} ×` : row.endMs === undefined ? "no response" : formatMs(end - row.startMs);
  const go = () => {
    chosenEntry.value = row.seq;
  };
  return (
    <tr class={chosen ? "timeline-bar-chosen" : undefined}>
      <th scope="row">
        <button type="button" class="parts-link mono" onClick={go}>
          {row.label}
        </button>{" "}
        <span class="soft">
          {KIND_WORDS[row.kind]}
          {row.failed && " failed"}
        </span>
      </th>
      <td class="timeline-figure">+{formatMs(row.startMs - start)}</td>
      <td class="timeline-figure">{taken}</td>
      <td class="timeline-bar-cell" aria-hidden="true">
        <svg viewBox="0 0 100 10" preserveAspectRatio="none" role="presentation">
          {row.kind === "points" ? (
            row.points.map((ms) => (
              <rect key={ms} class="timeline-bar-point" x={Math.min(percent(ms), 99.4)} y="1" width="0.6" height="8" />
            ))
          ) : (
            <rect
              class={`timeline-bar-${row.failed ? "failed" : row.kind}`}
              x={Math.min(percent(row.startMs), 99.4)}
              y="1"
              width={Math.max(percent(end) - percent(row.startMs), 0.6)}
              height="8"
            />
          )}
        </svg>
      </td>
    </tr>
  );
}
