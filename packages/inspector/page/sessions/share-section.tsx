import { useState } from "preact/hooks";
import { act } from "../backend/act.js";
import { inspectorState } from "../backend/page-state.js";
import { formatBytes } from "../parts/format-bytes.js";
import { ProblemNote } from "../parts/problem-note.js";
import { saveFile } from "../parts/save-file.js";
import { useAction } from "../parts/use-action.js";
import { SessionSection } from "./session-section.js";

/** Saves the timeline as one HTML file. */
export function ShareSection() {
  const action = useAction();
  const [saved, setSaved] = useState<string | undefined>(undefined);
  const share = () =>
    action.run(async () => {
      setSaved(undefined);
      const file = await act("share", {});
      saveFile(file);
      setSaved(`${file.name}, ${formatBytes(new Blob([file.text]).size)}`);
    });
  const { first = 0, next = 0 } = inspectorState.value?.timeline ?? {};
  return (
    <SessionSection title="Share">
      <p>
        Saves this timeline ({(next - first).toLocaleString("en")} entries) as one HTML file that opens in any browser
        and makes no network requests.
      </p>
      <dl class="keep-share">
        <dt>Included</dt>
        <dd>
          messages and events of all connections with their times, sizes and schema violations, and server details
        </dd>
        <dt>Removed</dt>
        <dd>
          secrets of targets, values with names such as <code>token</code> or <code>password</code>, texts that look
          like keys, query strings of URLs, values of most headers, request bodies of logins
        </dd>
      </dl>
      <p class="soft">Everything else that servers and users wrote is included. Check the file before you share it.</p>
      <div class="parts-actions">
        <button type="button" class="main" disabled={action.busy} onClick={share}>
          {action.busy ? "Writing the file…" : "Share as HTML"}
        </button>
        {saved !== undefined && <output>Saved {saved}</output>}
      </div>
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
    </SessionSection>
  );
}
