import type { CallRequest } from "../../src/contract/calls.js";
import type { ComparedCall, EntryDetail, EraComparison } from "../../src/contract/timeline.js";
import { formatBytes } from "../parts/format-bytes.js";
import { formatMs } from "../parts/format-ms.js";
import { DifferenceTable } from "../sessions/difference-table.js";
import { ComparedMessage } from "./compared-message.js";
import { messagesByRole, ROLES, type Role } from "./message-roles.js";

interface EraColumnsProps {
  readonly comparison: EraComparison;
  readonly request: CallRequest;
}

const TITLES: Readonly<Record<Role, string>> = {
  handshake: "Handshake",
  request: "Request",
  questions: "Questions and answers",
  notifications: "Notifications",
  answer: "Response",
  other: "Other",
};

/** Two runs of the same call side by side, message by message, and the differences between their results. */
export function EraColumns({ comparison, request }: EraColumnsProps) {
  const runs = comparison.calls.map((call) => ({ call, byRole: messagesByRole(call.entries, request) }));
  const roles = ROLES.filter((role) => runs.some(({ byRole }) => byRole[role].length > 0));
  const isCancelled = comparison.calls.some(({ outcome }) => outcome === "cancelled");
  const [left = "", right = ""] = comparison.calls.map(({ revision }) => revision);
  return (
    <div class="compare-result">
      <div class="compare-row">
        {runs.map(({ call }, at) => (
          <RunSummary key={at} call={call} />
        ))}
      </div>
      {roles.map((role) => (
        <section key={role} class="compare-role" aria-label={TITLES[role]}>
          <h3>{TITLES[role]}</h3>
          <div class="compare-row">
            {runs.map(({ call, byRole }, at) => (
              <ol key={at} aria-label={`${TITLES[role]} in ${call.revision}`}>
                {byRole[role].length === 0 && <li class="soft">none</li>}
                {byRole[role].map((entry) => (
                  <ComparedMessage key={entry.summary.seq} entry={entry} />
                ))}
              </ol>
            ))}
          </div>
        </section>
      ))}
      <section aria-label="Differences between the results">
        <h3>Differences between the results</h3>
        {isCancelled && <p>The results are not compared, because the call was cancelled.</p>}
        {!isCancelled && comparison.differences.length === 0 && <p>The results are the same.</p>}
        {comparison.differences.length > 0 && (
          <DifferenceTable label="Differences" sides={[left, right]} rows={comparison.differences} />
        )}
      </section>
    </div>
  );
}

const sumOf = (entries: readonly EntryDetail[], of: "bytes" | "problems") =>
  entries.reduce((sum, { summary }) => sum + summary[of], 0);

function RunSummary({ call }: { readonly call: ComparedCall }) {
  const { revision, outcome, durationMs, problem, entries } = call;
  const flaws = sumOf(entries, "problems");
  return (
    <div class="compare-facts">
      <h2>{revision}</h2>
      <p>
        <span class={`parts-mark compare-${outcome}`}>{outcome}</span>
        {formatMs(durationMs)} · {entries.length} messages · {formatBytes(sumOf(entries, "bytes"))}
      </p>
      <p class={flaws === 0 ? "compare-done" : "compare-failed"}>
        {flaws === 0
          ? "Every message matches the schema."
          : `${flaws === 1 ? "1 schema violation" : `${flaws} schema violations`}.`}
      </p>
      {problem !== undefined && <p class="compare-problem">{problem}</p>}
    </div>
  );
}
