import type { Measured, RowResult } from "../results.js";
import { budgetText, comparedText, figureText } from "../rows/row-text.js";
import { kept, measured, ours, peersOf } from "./sides.js";

/** One line per row: the bare program, ours, the official SDK and the best other one, and what was promised. */
export function summaryTable(rows: readonly RowResult[]): string {
  const lines = rows.map((row) => {
    const bare = measured(row, row.baseline);
    const official = measured(row, "official-v2") ?? measured(row, "official-v2-50") ?? measured(row, "official-v1");
    const best = peersOf(row).find((peer) => peer !== official && !peer.id.startsWith("official"));
    const cells = [
      row.title,
      bare === undefined ? "–" : `${figureText(bare.median ?? 0)} ${row.unit}`,
      ours(row)
        .map((one) => `**${cell(row, one, ours(row).length > 1)}**`)
        .join("<br>") || "–",
      official === undefined ? "–" : cell(row, official, official.id !== "official-v2"),
      best === undefined ? "–" : cell(row, best, true),
      row.budgets.map((budget) => budgetText(row, budget)).join("<br>") || "–",
      verdict(row),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    "| what | bare program | Parley | official SDK | best other peer | budget | kept |",
    "|---|---|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}

/** A figure in the form in which the row's budget is given, so that the two can be compared at a glance. */
function cell(row: RowResult, one: Measured, named: boolean): string {
  const name = named ? ` (${one.title})` : "";
  const as = row.budgets[0]?.as ?? row.shown;
  const compared = as === "value" ? "" : comparedText(row, one);
  if (compared === "") return `${figureText(one.median ?? 0)} ${row.unit}${name}`;
  return as === "ratio" ? `${compared} ×${name}` : `${compared}${name}`;
}

function verdict(row: RowResult): string {
  const all = kept(row);
  return all === undefined ? "–" : all ? "yes" : "**no**";
}
