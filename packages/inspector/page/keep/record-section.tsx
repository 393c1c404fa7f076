import type { RecordingInfo } from "../../src/contract/keep.js";
import { act } from "../backend/act.js";
import { formatBytes } from "../parts/format-bytes.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";
import { KeepSection } from "./keep-section.js";

/** Starts and stops the recording of all connections. */
export function RecordSection({ recording }: { readonly recording: RecordingInfo | undefined }) {
  const action = useAction();
  const name = recording === undefined ? "startRecording" : "stopRecording";
  return (
    <KeepSection title="Record">
      <p class="soft">
        A recording keeps the messages of all connections from now on, also those that the timeline forgets. A new one
        replaces the last.
      </p>
      <div class="parts-actions">
        <button
          type="button"
          class={recording === undefined ? "main" : "danger"}
          disabled={action.busy}
          onClick={() => action.run(() => act(name, {}))}
        >
          {recording === undefined ? "Start recording" : "Stop recording"}
        </button>
        {recording !== undefined && (
          <output class="keep-recording">
            {recording.messages.toLocaleString("en")} messages, {formatBytes(recording.bytes)}
          </output>
        )}
      </div>
      {recording?.full === true && <p class="keep-warning">The recording is full: new messages are not kept.</p>}
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
    </KeepSection>
  );
}
