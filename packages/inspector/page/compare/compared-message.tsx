import { useState } from "preact/hooks";
import type { EntryDetail } from "../../src/contract/timeline.js";
import { CodeText } from "../parts/code-text.js";
import { formatBytes } from "../parts/format-bytes.js";
import { formatMs } from "../parts/format-ms.js";
import { problemWords } from "../timeline/problem-lines.js";

/** One message of a compared call. Expands to its text. */
export function ComparedMessage({ entry }: { readonly entry: EntryDetail }) {
  const [open, setOpen] = useState(false);
  const { direction, kind, label, bytes, latencyMs, problems, failed, seq } = entry.summary;
  const facts = [kind, formatBytes(bytes), ...(latencyMs === undefined ? [] : [formatMs(latencyMs)])];
  return (
    <li class="compare-message">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span class="compare-direction">
          <span aria-hidden="true">{direction === "sent" ? "→" : "←"}</span>
          <span class="visually-hidden">{direction}</span>
        </span>
        <span class={failed ? "mono compare-failed" : "mono"}>{label}</span>
        <span class="soft">{facts.join(" · ")}</span>
        {problems > 0 && (
          <span class="compare-failed">{problems === 1 ? "1 violation" : `${problems} violations`}</span>
        )}
      </button>
      {open && (
        <>
          {entry.problems.length > 0 && (
            <ul class="compare-flaws">
              {entry.problems.map((problem) => (
                <li key={`${problem.path} ${problem.message}`}>
                  <code>{problem.path === "" ? "/" : problem.path}</code> {problemWords(problem)}
                </li>
              ))}
            </ul>
          )}
          <CodeText label={`${kind} ${label}, number ${seq}`} text={entry.text} />
        </>
      )}
    </li>
  );
}
