import { printable } from "@parley/mcp/protocol";
import { useEffect, useRef, useState } from "preact/hooks";
import type { CompleteText } from "./form-context.js";

interface CompletingInputProps {
  readonly id: string;
  readonly name: string;
  readonly label?: string | undefined;
  readonly describedBy?: string | undefined;
  readonly required: boolean;
  readonly invalid: boolean;
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
  readonly complete: CompleteText;
}

/** Time without typing before suggestions are requested, in milliseconds. */
const QUIET_MS = 150;

/** Loads suggestions while the user types. Ignores suggestions for text that has changed since. */
function useSuggestions(name: string, complete: CompleteText) {
  const [suggestions, setSuggestions] = useState<readonly string[]>([]);
  const latest = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const ask = (typed: string) => {
    clearTimeout(timer.current);
    const mine = ++latest.current;
    timer.current = setTimeout(() => {
      complete(name, typed).then(
        (values) => mine === latest.current && setSuggestions(isTyped(values, typed) ? [] : values),
        () => mine === latest.current && setSuggestions([]),
      );
    }, QUIET_MS);
  };
  const drop = () => {
    clearTimeout(timer.current);
    latest.current++;
    setSuggestions([]);
  };
  return { suggestions, ask, drop };
}

/** True if the only suggestion equals the typed text. Such a list is not shown: it would only cover the next field. */
const isTyped = (values: readonly string[], typed: string) => values.length === 1 && values[0] === typed;

/** A text field with suggestions from the server. */
export function CompletingInput(props: CompletingInputProps) {
  const { id, value = "", onChange } = props;
  const { suggestions, ask, drop } = useSuggestions(props.name, props.complete);
  const [active, setActive] = useState(-1);
  const listId = `${id}-suggestions`;
  const open = suggestions.length > 0;
  const pick = (suggestion: string | undefined) => {
    if (suggestion !== undefined) onChange(suggestion);
    setActive(-1);
    drop();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" && !open) ask(value);
    else if (event.key === "ArrowDown") setActive((active + 1) % suggestions.length);
    else if (event.key === "ArrowUp" && open)
      setActive((active + suggestions.length - 1 + (active < 0 ? 1 : 0)) % suggestions.length);
    else if (event.key === "Enter" && open && active >= 0 && !event.ctrlKey) pick(suggestions[active]);
    else if (event.key === "Escape" && open) drop();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="forms-completing">
      <input
        id={id}
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-autocomplete="list"
        aria-expanded={open}
        aria-controls={listId}
        aria-activedescendant={open && active >= 0 ? `${listId}-${active}` : undefined}
        aria-label={props.label}
        aria-describedby={props.describedBy}
        aria-required={props.required}
        aria-invalid={props.invalid}
        value={value}
        onInput={(event) => {
          setActive(-1);
          onChange(event.currentTarget.value);
          ask(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
        onBlur={drop}
      />
      <Suggestions {...{ listId, suggestions, active, pick }} name={props.name} />
    </div>
  );
}

interface SuggestionsProps {
  readonly listId: string;
  readonly name: string;
  readonly suggestions: readonly string[];
  readonly active: number;
  readonly pick: (suggestion: string) => void;
}

function Suggestions({ listId, name, suggestions, active, pick }: SuggestionsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.children[active]?.scrollIntoView({ block: "nearest" }), [active]);
  return (
    <div
      ref={list}
      id={listId}
      class="forms-suggestions"
      role="listbox"
      tabIndex={-1}
      aria-label={`Suggestions for ${printable(name)}`}
      hidden={suggestions.length === 0}
    >
      {suggestions.map((suggestion, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox has the focus and handles the keys
        <div
          key={suggestion}
          id={`${listId}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          // Prevents the field from losing the focus, which would close the list before the click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => pick(suggestion)}
        >
          {printable(suggestion)}
        </div>
      ))}
    </div>
  );
}
