import { useState } from "preact/hooks";
import { act } from "../backend/act.js";
import { inspectorState } from "../backend/page-state.js";
import { formatBytes } from "../parts/format-bytes.js";
import { ProblemNote } from "../parts/problem-note.js";
import { saveFile } from "../parts/save-file.js";
import { useAction } from "../parts/use-action.js";
import { KeepSection } from "./keep-section.js";

/** Saves the timeline as one page that opens anywhere. */
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
    <KeepSection title="Share">
      <p>
        One HTML file with this timeline ({(next - first).toLocaleString("en")} entries), which opens in any browser and
        asks nobody for anything.
      </p>
      <dl class="keep-share">
        <dt>In it</dt>
        <dd>messages and events of all connections, their times, sizes and flaws, what servers say of themselves</dd>
        <dt>Taken out</dt>
        <dd>
          secrets of targets, values under names such as <code>token</code> or <code>password</code>, texts that look
          like keys, queries of addresses, values of most headers, what was posted in logins
        </dd>
      </dl>
      <p class="soft">What servers and users wrote besides stays: read it before you pass it on.</p>
      <div class="parts-actions">
        <button type="button" class="main" disabled={action.busy} onClick={share}>
          {action.busy ? "Writing the file…" : "Share as HTML"}
        </button>
        {saved !== undefined && <output>Saved {saved}</output>}
      </div>
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
    </KeepSection>
  );
}
