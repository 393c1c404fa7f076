import type { Measured, RowResult } from "./results.js";

/** How much worse a figure may be than the committed one. */
const TOLERANCE = { speed: 0.1, memory: 0.2, size: 0.2 };

/** What got worse, as sentences. Rows are compared by ratio where they have a baseline, because machines differ. */
export function regressions(now: readonly RowResult[], committed: readonly RowResult[]): string[] {
  return now.flatMap((row) => {
    const before = committed.find(({ id }) => id === row.id);
    return before === undefined ? [] : worseIn(row, before);
  });
}

function worseIn(row: RowResult, before: RowResult): string[] {
  return row.budgets.flatMap(({ contender }) => {
    const [new_, old] = [row, before].map(({ contenders }) => contenders.find(({ id }) => id === contender));
    const [reached, expected] = [comparable(row, new_), comparable(before, old)];
    if (expected === undefined) return [];
    if (reached === undefined) return [`${row.id}: ${contender} gave no figure (${new_?.failure ?? "unknown"})`];
    const change = reached / expected - 1;
    const worse = row.better === "more" ? -change : change;
    if (worse <= TOLERANCE[row.kind]) return [];
    const percent = `${Math.round(worse * 100)} % worse`;
    return [`${row.id}: ${contender} is ${percent} than the committed figure (${expected} → ${reached})`];
  });
}

/** The number that means the same on every machine; undefined where there is none. */
function comparable(row: RowResult, one: Measured | undefined): number | undefined {
  if (row.baseline !== undefined) return one?.ratio;
  return row.kind === "speed" ? undefined : one?.median;
}
