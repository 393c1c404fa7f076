interface RunButtonProps {
  readonly title: string;
  readonly disabled: boolean;
  /** True while the request of the last press is being sent. Further presses do nothing. */
  readonly busy: boolean;
  readonly onRun: () => void;
}

/** The main button of a panel. The panel handles the keyboard shortcut that the button shows. */
export function RunButton({ title, disabled, busy, onRun }: RunButtonProps) {
  return (
    <button
      type="button"
      class="main"
      aria-keyshortcuts="Control+Enter"
      disabled={disabled}
      aria-disabled={busy}
      onClick={onRun}
    >
      {title}{" "}
      <span class="use-key" aria-hidden="true">
        Ctrl ↵
      </span>
    </button>
  );
}
