import { useId } from "preact/hooks";

interface SearchBoxProps {
  readonly value: string;
  readonly onInput: (text: string) => void;
  /** Its accessible name, and what it says while it is empty. */
  readonly label: string;
  /** What can be searched for, below the box. */
  readonly hint?: string | undefined;
}

/** A field that narrows a list while typing. `/` goes to the first of a view; Esc empties it; ↓ and Enter go on to the list. */
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

/** Gives the focus to the list of the same panel, and chooses its first row as the key for that does. */
function goToList(box: HTMLElement): void {
  const list = box.closest("[role=tabpanel]")?.querySelector<HTMLElement>("[role=listbox]");
  list?.focus();
  list?.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true, cancelable: true }));
}
