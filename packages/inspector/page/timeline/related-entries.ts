import type { EntrySummary } from "../../src/contract/timeline.js";

/** The other half of a request and its answer, if it is kept. */
export function pairedEntry(entry: EntrySummary, all: readonly EntrySummary[]): EntrySummary | undefined {
  if (entry.answers !== undefined) return all.find(({ seq }) => seq === entry.answers);
  return entry.kind === "request" ? all.find(({ answers }) => answers === entry.seq) : undefined;
}

/** All entries of the call of an entry; of one that belongs to no call, itself and its other half. */
export function entriesOfCall(entry: EntrySummary, all: readonly EntrySummary[]): readonly EntrySummary[] {
  if (entry.call !== undefined) return all.filter(({ call }) => call === entry.call);
  const paired = pairedEntry(entry, all);
  return paired === undefined ? [entry] : [entry, paired].sort((left, right) => left.seq - right.seq);
}
