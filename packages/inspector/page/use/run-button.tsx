interface RunButtonProps {
  readonly title: string;
  readonly disabled: boolean;
  readonly onRun: () => void;
}

/** The button that does what a panel is for; a key of the panel does it too. */
export function RunButton({ title, disabled, onRun }: RunButtonProps) {
  return (
    <button type="button" class="main" aria-keyshortcuts="Control+Enter" disabled={disabled} onClick={onRun}>
      {title}{" "}
      <span class="use-key" aria-hidden="true">
        Ctrl ↵
      </span>
    </button>
  );
}
