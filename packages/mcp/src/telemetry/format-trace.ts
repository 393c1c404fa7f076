import { printableLine } from "../encoding/printable.js";
import type { TraceSpan } from "./trace-span.js";

/**
 * Writes a trace as lines: when each layer began, how long it took, and its name, indented by depth. What had not ended has `…` in
 * place of a length. Control characters of names are spelled out.
 */
export function formatTrace(trace: TraceSpan): string {
  const rows = rowsOf(trace, 0);
  const [starts, lengths] = [
    Math.max(...rows.map(([start]) => start.length)),
    Math.max(...rows.map(([, ms]) => ms.length)),
  ];
  return rows.map(([start, ms, text]) => `${start.padStart(starts)}  ${ms.padStart(lengths)}  ${text}`).join("\n");
}

type Row = readonly [start: string, length: string, text: string];

function rowsOf({ side, layer, detail, startMs, durationMs, outcome, spans }: TraceSpan, depth: number): Row[] {
  const length = layer === "progress" ? "" : durationMs === undefined ? "…" : `${durationMs.toFixed(2)} ms`;
  const words = [side, layer, ...(detail === "" ? [] : [printableLine(detail)])].join(" ");
  const text = `${"  ".repeat(depth)}${words}${outcome === undefined ? "" : `: ${outcome}`}`;
  return [[`+${startMs.toFixed(2)} ms`, length, text], ...spans.flatMap((span) => rowsOf(span, depth + 1))];
}
