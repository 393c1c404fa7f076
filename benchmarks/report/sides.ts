import type { Measured, RowResult } from "../results.js";

const OURS = /^parley/;
const BARE = new Set(["plain", "tuned"]);

/** The contender with this id, if it has a figure. */
export function measured(row: RowResult, id: string | undefined): Measured | undefined {
  const one = row.contenders.find((contender) => contender.id === id);
  return one?.median === undefined ? undefined : one;
}

/** Other implementations that gave a figure, best first. */
export function peersOf(row: RowResult): Measured[] {
  const peers = row.contenders.filter(({ id, median }) => !OURS.test(id) && !BARE.has(id) && median !== undefined);
  const sign = row.better === "more" ? -1 : 1;
  return peers.sort((a, b) => sign * ((a.median ?? 0) - (b.median ?? 0)));
}

/** Ours that the row is about: those with a budget, or the one that bears the name. */
export function ours(row: RowResult): Measured[] {
  const ids = row.budgets.length > 0 ? row.budgets.map(({ contender }) => contender) : ["parley"];
  return ids.flatMap((id) => measured(row, id) ?? []);
}

/** Whether everything that was promised in this row holds; undefined when nothing was promised. */
export function kept(row: RowResult): boolean | undefined {
  return row.budgets.length === 0 ? undefined : row.budgets.every(({ met }) => met);
}
