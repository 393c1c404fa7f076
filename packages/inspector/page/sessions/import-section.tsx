import { useState } from "preact/hooks";
import { act } from "../backend/act.js";
import { chosenConnection, currentView } from "../backend/page-state.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";
import { SessionSection } from "./session-section.js";

/** Maximum size of an imported file. Larger files are rejected. The inspector has the same limit. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Imports a recorded session and lists it with the connections. */
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
    <SessionSection title="Import">
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
            // Lets the user choose the same file again after correcting it.
            event.currentTarget.value = "";
          }}
        />
      </label>
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
    </SessionSection>
  );
}

async function importFile(file: File): Promise<void> {
  if (file.size > MAX_FILE_BYTES) throw new Error(`${file.name} is larger than ${MAX_FILE_BYTES} bytes`);
  const { connection } = await act("importSession", { text: await file.text(), name: file.name });
  chosenConnection.value = connection;
  currentView.value = "timeline";
}
