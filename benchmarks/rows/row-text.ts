import type { Measured, RowResult, Verdict } from "../results.js";

/** A figure for people: three significant digits, thousands by commas. */
export function figureText(value: number): string {
  if (value >= 100) return Math.round(Number(value.toPrecision(value >= 10_000 ? 3 : 4))).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

/** What a contender reached beside the baseline, as the row wants it shown; empty where there is nothing to compare. */
export function comparedText(row: RowResult, one: Measured): string {
  const base = row.contenders.find(({ id }) => id === row.baseline);
  if (row.shown === "ratio" && one.ratio !== undefined) return ratioText(one.ratio);
  if (row.shown === "difference" && one.median !== undefined && base?.median !== undefined) {
    const more = one.median - base.median;
    return `${more < 0 ? "−" : "+"}${figureText(Math.abs(more))} ${row.unit}`;
  }
  return "";
}

function ratioText(ratio: number): string {
  return ratio < 0.1 ? ratio.toFixed(3) : ratio.toFixed(2);
}

/** A budget in words, for example `≥ 1.10 ×`. */
export function budgetText(row: RowResult, { as, atLeast, atMost }: Verdict): string {
  const limit = atLeast ?? atMost ?? 0;
  const sign = atLeast === undefined ? "≤" : "≥";
  if (as === "ratio") return `${sign} ${limit.toFixed(2)} ×`;
  return `${sign} ${as === "difference" ? "+" : ""}${figureText(limit)} ${row.unit}`;
}

/** A row for the terminal. */
export function rowText(row: RowResult): string {
  const lines = row.contenders.map((one) => {
    if (one.median === undefined) return `  ${one.title}: – (${one.failure})`;
    const compared = comparedText(row, one);
    const range = `${figureText(one.least ?? 0)} … ${figureText(one.most ?? 0)}`;
    return `  ${one.title}: ${figureText(one.median)} ${row.unit}${compared === "" ? "" : `, ${compared}`} (${range})`;
  });
  const budgets = row.budgets.map((budget) => {
    const title = row.contenders.find(({ id }) => id === budget.contender)?.title ?? budget.contender;
    return `  budget of ${title} ${budgetText(row, budget)}: ${budget.met ? "met" : "MISSED"}`;
  });
  return [row.title, ...lines, ...budgets].join("\n");
}
