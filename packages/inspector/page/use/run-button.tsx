interface RunButtonProps {
  readonly title: string;
  readonly disabled: boolean;
  /** A press before is being sent, and another would do nothing. */
  readonly busy: boolean;
  readonly onRun: () => void;
}

/** The button that does what a panel is for; a key of the panel does it too. */
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
