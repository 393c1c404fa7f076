import type { Finding } from "@parley/mcp/lint";
import { problemLines } from "../timeline/problem-lines.js";

interface FindingListProps {
  readonly title: string;
  readonly findings: readonly Finding[];
}

/** Findings that are put into the document at once. */
const MOST_SHOWN = 200;

/** What lint found, each with what to change. Shows nothing where there is nothing. */
export function FindingList({ title, findings }: FindingListProps) {
  if (findings.length === 0) return null;
  return (
    <div class="model-findings">
      <h3>{title}</h3>
      <ul>
        {findings.slice(0, MOST_SHOWN).map(({ rule, severity, path, message, fix }) => (
          <li key={`${rule} ${path} ${message}`} class={`model-${severity}`}>
            <p>
              <span class="parts-mark">{severity}</span>
              {path !== undefined && <code>{path}: </code>}
              {message} <span class="soft">({rule})</span>
            </p>
            <p>
              <strong>Fix:</strong> {fix}
            </p>
          </li>
        ))}
      </ul>
      {findings.length > MOST_SHOWN && <p class="soft">{findings.length - MOST_SHOWN} more are not shown.</p>}
    </div>
  );
}

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
