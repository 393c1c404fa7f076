import { useId } from "preact/hooks";

interface SearchBoxProps {
  readonly value: string;
  readonly onInput: (text: string) => void;
  /** The accessible name and the placeholder. */
  readonly label: string;
  /** Explains below the box what can be searched. */
  readonly hint?: string | undefined;
}

/**
 * Filters a list while the user types. `/` focuses the first box of a view, Esc clears it, ↓ and Enter move to the
 * list.
 */
export function SearchBox({ value, onInput, label, hint }: SearchBoxProps) {
  const hintId = useId();
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }) => {
    if (event.key === "ArrowDown" || event.key === "Enter") goToList(event.currentTarget);
    else if (event.key === "Escape" && value !== "") onInput("");
    else return;
    event.stopPropagation();
    event.preventDefault();
  };
  return (
    <div class="parts-search">
      <input
        type="search"
        aria-label={label}
        aria-describedby={hint === undefined ? undefined : hintId}
        placeholder={label}
        value={value}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {hint !== undefined && (
        <p class="soft" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** Focuses the list of the same panel and selects its first row with the Home key. */
function goToList(box: HTMLElement): void {
  const list = box.closest("[role=tabpanel]")?.querySelector<HTMLElement>("[role=listbox]");
  list?.focus();
  list?.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true, cancelable: true }));
}
