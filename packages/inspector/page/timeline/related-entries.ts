import type { EntrySummary } from "../../src/contract/timeline.js";

/**
 * Returns the response to a request, or the request of a response. Undefined if that entry does not exist yet or is no
 * longer stored.
 */
export function pairedEntry(entry: EntrySummary, all: readonly EntrySummary[]): EntrySummary | undefined {
  if (entry.answers !== undefined) return all.find(({ seq }) => seq === entry.answers);
  return entry.kind === "request" ? all.find(({ answers }) => answers === entry.seq) : undefined;
}

/**
 * Returns all entries of the call that an entry belongs to. For an entry outside of a call, returns the entry and its
 * request or response.
 */
export function entriesOfCall(entry: EntrySummary, all: readonly EntrySummary[]): readonly EntrySummary[] {
  if (entry.call !== undefined) return all.filter(({ call }) => call === entry.call);
  const paired = pairedEntry(entry, all);
  return paired === undefined ? [entry] : [entry, paired].sort((left, right) => left.seq - right.seq);
}
