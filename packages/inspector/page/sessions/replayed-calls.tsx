import { useState } from "preact/hooks";
import type { ReplayedCall, ReplayReport } from "../../src/contract/sessions.js";
import { DifferenceTable } from "./difference-table.js";

/** Number of calls displayed at first, and added by each "Show more". */
const FIRST_CALLS = 100;

const counted = (count: number, what: string) => `${count.toLocaleString("en")} ${what}`;

/** The outcome of each request of a replay. Cancelled requests come first, then those with different responses. */
export function ReplayedCalls({ report }: { readonly report: ReplayReport }) {
  const [shown, setShown] = useState(FIRST_CALLS);
  const { same, different, skipped, cancelled, notSent } = report;
  const calls = [...report.calls].sort((a, b) => rankOf(a) - rankOf(b));
  return (
    <div class="keep-report">
      <output>
        {[counted(same, "same"), counted(different, "different"), counted(skipped, "skipped")].join(", ")}
        {cancelled === true && `; cancelled${notSent === undefined ? "" : `, ${counted(notSent, "not sent")}`}`}
      </output>
      <ol>
        {calls.slice(0, shown).map((call, at) => (
          <ReplayedCallItem key={at} call={call} />
        ))}
      </ol>
      {calls.length > shown && (
        <button type="button" onClick={() => setShown(shown + FIRST_CALLS)}>
          Show more ({calls.length - shown} left)
        </button>
      )}
    </div>
  );
}

const rankOf = ({ verdict }: ReplayedCall) => ["cancelled", "different", "skipped", "same"].indexOf(verdict);

function ReplayedCallItem({ call }: { readonly call: ReplayedCall }) {
  const { method, about, verdict, reason, differences } = call;
  return (
    <li class={`keep-call keep-${verdict}`}>
      <p>
        <span class="parts-mark">{verdict}</span>
        <span class="mono">
          {method} {about} <span class="soft">{call.arguments}</span>
        </span>
        {reason !== undefined && <span class="soft"> {reason}</span>}
      </p>
      {differences.length > 0 && (
        <DifferenceTable
          label={`Differences in ${method} ${about ?? ""}`}
          sides={["Recorded", "Now"]}
          rows={differences.map(({ path, recorded, now }) => ({ path, left: recorded, right: now }))}
        />
      )}
    </li>
  );
}
