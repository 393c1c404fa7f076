import type { Finding } from "@parley/mcp/lint";
import { problemLines } from "../timeline/problem-lines.js";

interface FindingListProps {
  readonly title: string;
  readonly findings: readonly Finding[];
}

/** Maximum number of displayed findings. Further findings are only counted. */
const MAX_FINDINGS = 200;

/** The lint findings, each with its fix. Renders nothing if there are none. */
export function FindingList({ title, findings }: FindingListProps) {
  if (findings.length === 0) return null;
  return (
    <div class="model-findings">
      <h3>{title}</h3>
      <ul>
        {findings.slice(0, MAX_FINDINGS).map(({ rule, severity, path, message, fix }) => (
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
      {findings.length > MAX_FINDINGS && <p class="soft">{findings.length - MAX_FINDINGS} more are not shown.</p>}
    </div>
  );
}

/** Maximum number of findings noted beside lines. Further findings appear only in the list of findings. */
const MAX_NOTES = 100;

/** Maps the lines of a tool's JSON text, counted from 0, to the lint findings about them. */
export function findingNotes(text: string, findings: readonly Finding[]): ReadonlyMap<number, readonly string[]> {
  // Excludes provider rules: parts that the selected provider drops are listed separately.
  const placed = findings.flatMap(({ path, message, rule }) =>
    path === undefined || rule.startsWith("provider-")
      ? []
      : [{ path: `/${path.replaceAll(".", "/")}`, note: `${message} (${rule})` }],
  );
  const lines = problemLines(text, placed.slice(0, MAX_NOTES));
  return new Map([...lines].map(([line, here]) => [line, here.map(({ note }) => note)]));
}
