import { inspectorState } from "../backend/page-state.js";
import { ExportSection } from "./export-section.js";
import { ImportSection } from "./import-section.js";
import { RecordSection } from "./record-section.js";
import { ReplaySection } from "./replay-section.js";
import { ShareSection } from "./share-section.js";

/** Recording, export, import, sharing and replay of sessions. */
export function SessionView() {
  const state = inspectorState.value;
  const connections = state?.connections ?? [];
  return (
    <div class="keep">
      <RecordSection recording={state?.recording} />
      <ExportSection connections={connections} />
      <ImportSection />
      <ShareSection />
      <ReplaySection connections={connections} />
    </div>
  );
}
