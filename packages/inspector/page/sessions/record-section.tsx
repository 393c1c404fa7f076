import type { RecordingInfo } from "../../src/contract/sessions.js";
import { act } from "../backend/act.js";
import { formatBytes } from "../parts/format-bytes.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";
import { SessionSection } from "./session-section.js";

/** Starts and stops the recording of all connections. */
export function RecordSection({ recording }: { readonly recording: RecordingInfo | undefined }) {
  const action = useAction();
  const name = recording === undefined ? "startRecording" : "stopRecording";
  return (
    <SessionSection title="Record">
      <p class="soft">
        Records the messages of all connections from now on, including those that the timeline drops. A new recording
        replaces the previous one.
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
      {recording?.full === true && <p class="keep-warning">The recording is full. New messages are not recorded.</p>}
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
    </SessionSection>
  );
}
