import { useState } from "preact/hooks";
import { act } from "../backend/act.js";
import { chosenConnection, currentView } from "../backend/page-state.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";
import { KeepSection } from "./keep-section.js";

/** Bytes of a file that are read; the inspector takes no more. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Shows a recorded session beside the connections. */
export function ImportSection() {
  const action = useAction();
  const [over, setOver] = useState(false);
  const read = (file: File | undefined) => {
    if (file !== undefined) action.run(() => importFile(file));
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    read(event.dataTransfer?.files[0]);
  };
  const onDragOver = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <KeepSection title="Import">
      <label
        class={over ? "keep-drop keep-drop-over" : "keep-drop"}
        onDrop={onDrop}
        onDragOver={onDragOver}
        onDragLeave={() => setOver(false)}
      >
        <span>Choose a recording, or drop it here:</span>
        <input
          type="file"
          accept=".jsonl,.ndjson,application/x-ndjson"
          disabled={action.busy}
          onChange={(event) => {
            read(event.currentTarget.files?.[0]);
            // The same file can be chosen again after it was corrected.
            event.currentTarget.value = "";
          }}
        />
      </label>
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
    </KeepSection>
  );
}

async function importFile(file: File): Promise<void> {
  if (file.size > MOST_BYTES) throw new Error(`${file.name} has more than ${MOST_BYTES} bytes`);
  const { connection } = await act("importSession", { text: await file.text(), name: file.name });
  chosenConnection.value = connection;
  currentView.value = "timeline";
}
