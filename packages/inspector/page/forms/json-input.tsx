import { useState } from "preact/hooks";
import { sameJson } from "./model/json-members.js";
import { type JsonReading, jsonText, readJsonText } from "./model/json-text.js";

interface JsonInputProps {
  readonly id: string;
  readonly label?: string | undefined;
  readonly describedBy?: string | undefined;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly rows?: number | undefined;
}

/** Describes a syntax error. Undefined if the text is valid JSON. */
export function readingProblem(reading: JsonReading): string | undefined {
  if (reading.ok) return undefined;
  return `Line ${reading.line}, column ${reading.column}: ${reading.message}.`;
}

/** Edits a value as JSON text. Invalid text stays in the field and leaves the value unchanged. */
export function JsonInput({ id, label, describedBy, value, onChange, rows = 3 }: JsonInputProps) {
  const [draft, setDraft] = useState(() => ({ text: jsonText(value), value }));
  // If the value was changed elsewhere, the typed text is outdated.
  const text = sameJson(draft.value, value) ? draft.text : jsonText(value);
  const problem = readingProblem(readJsonText(text));
  const problemId = `${id}-json`;
  const onInput = (typed: string) => {
    const reading = readJsonText(typed);
    setDraft({ text: typed, value: reading.ok ? reading.value : value });
    if (reading.ok) onChange(reading.value);
  };
  return (
    <>
      <textarea
        id={id}
        class="forms-json"
        rows={rows}
        spellcheck={false}
        aria-label={label}
        aria-describedby={
          [describedBy, problem === undefined ? undefined : problemId].filter(Boolean).join(" ") || undefined
        }
        aria-invalid={problem !== undefined}
        value={text}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {problem !== undefined && (
        <p class="forms-issue" id={problemId}>
          {problem}
        </p>
      )}
    </>
  );
}
