import type { Finding } from "@parley/mcp/lint";

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
