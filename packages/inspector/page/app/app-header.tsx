import { inspectorState, reached } from "../backend/page-state.js";
import { sharedSession } from "../backend/shared-session.js";
import { questionsInWords } from "./announce-changes.js";
import { helpShown } from "./shortcuts.js";
import { ThemeSwitch } from "./theme-switch.js";

const REACHED_WORDS = {
  waiting: "starting",
  open: "running",
  gone: "ended",
  refused: "refused",
} as const;

/** The name, how the inspector is, and what holds for all views. */
export function AppHeader() {
  const shared = sharedSession();
  const state = inspectorState.value;
  const questions = state?.questions.length ?? 0;
  return (
    <header class="app-header">
      <h1>Parley inspector</h1>
      <p class="soft">
        {shared === undefined
          ? [state?.version, REACHED_WORDS[reached.value]].filter((word) => word !== undefined).join(" · ")
          : `session of ${shared.exported}, read only${shared.leftOut > 0 ? `, ${shared.leftOut} entries are not in the file` : ""}`}
      </p>
      <span class="app-header-space" />
      {questions > 0 && <span class="app-badge">{questionsInWords(questions)}</span>}
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
        Keys <kbd>?</kbd>
      </button>
    </header>
  );
}

/** Says that the inspector is no longer there, or does not know this tab. */
export function ReachedBanner() {
  if (reached.value === "gone") {
    return (
      <p class="app-banner" role="alert">
        The inspector has ended: start <code>parley inspect</code> again, and open the address that it prints.
      </p>
    );
  }
  if (reached.value === "refused") {
    return (
      <p class="app-banner" role="alert">
        The inspector does not know this tab: open the whole address that <code>parley inspect</code> printed, with its
        token.
      </p>
    );
  }
  return null;
}
