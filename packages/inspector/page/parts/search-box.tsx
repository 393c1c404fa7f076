import { useId } from "preact/hooks";

interface SearchBoxProps {
  readonly value: string;
  readonly onInput: (text: string) => void;
  /** Its accessible name, and what it says while it is empty. */
  readonly label: string;
  /** What can be searched for, below the box. */
  readonly hint?: string | undefined;
}

/** A field that narrows a list while typing. `/` goes to the first of a view; Esc empties it. */
export function SearchBox({ value, onInput, label, hint }: SearchBoxProps) {
  const hintId = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || value === "") return;
    event.stopPropagation();
    event.preventDefault();
    onInput("");
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
