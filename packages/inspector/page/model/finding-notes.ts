import type { Finding } from "@parley/mcp/lint";
import { problemLines } from "../timeline/problem-lines.js";

/** Notes that are put beside lines; the list of findings has all. */
const MOST_NOTES = 100;

/** What lint says of places in a tool, by the line of its JSON text, counted from 0. */
export function findingNotes(text: string, findings: readonly Finding[]): ReadonlyMap<number, readonly string[]> {
  // What a provider does not learn of is told by itself, and for the provider that is shown.
  const placed = findings.flatMap(({ path, message, rule }) =>
    path === undefined || rule.startsWith("provider-")
      ? []
      : [{ path: `/${path.replaceAll(".", "/")}`, note: `${message} (${rule})` }],
  );
  const lines = problemLines(text, placed.slice(0, MOST_NOTES));
  return new Map([...lines].map(([line, here]) => [line, here.map(({ note }) => note)]));
}
