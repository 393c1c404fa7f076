import { inspectorState, inspectorStatus } from "../backend/page-state.js";
import { sharedSession } from "../backend/shared-session.js";
import { waitingQuestions } from "./announce-changes.js";
import { helpShown } from "./shortcuts.js";
import { ThemeSwitch } from "./theme-switch.js";

const STATUS_LABELS = {
  waiting: "starting",
  open: "running",
  gone: "stopped",
  refused: "access denied",
} as const;

/** The title bar: the state of the inspector, waiting questions, a running recording, the theme and the shortcuts. */
export function AppHeader() {
  const shared = sharedSession();
  const state = inspectorState.value;
  const questions = state?.questions.length ?? 0;
  return (
    <header class="app-header">
      <h1>Parley inspector</h1>
      <p class="soft">
        {shared === undefined
          ? [state?.version, STATUS_LABELS[inspectorStatus.value]].filter((word) => word !== undefined).join(" · ")
          : `session from ${shared.exported}, read-only${shared.leftOut > 0 ? `, ${shared.leftOut} entries not included` : ""}`}
      </p>
      <span class="app-header-space" />
      {questions > 0 && <span class="app-badge">{waitingQuestions(questions)}</span>}
      {state?.recording !== undefined && (
        <span class="app-recording">
          <span aria-hidden="true">●</span> recording, {state.recording.messages} messages
          {state.recording.full && " (full)"}
        </span>
      )}
      <ThemeSwitch />
      <button
        type="button"
        onClick={() => {
          helpShown.value = true;
        }}
      >
        Shortcuts <kbd>?</kbd>
      </button>
    </header>
  );
}

/** Reports that the inspector has stopped, or that it refuses this tab. */
export function StatusBanner() {
  if (inspectorStatus.value === "gone") {
    return (
      <p class="app-banner" role="alert">
        The inspector has stopped. Run <code>parley inspect</code> again and open the address it prints.
      </p>
    );
  }
  if (inspectorStatus.value === "refused") {
    return (
      <p class="app-banner" role="alert">
        This tab has no access to the inspector. Open the full address that <code>parley inspect</code> printed,
        including its token.
      </p>
    );
  }
  return null;
}
