import { printable } from "@parley/mcp/protocol";
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { TabPanel, Tabs } from "../parts/tabs.js";
import { FieldView } from "./field-view.js";
import { type CompleteText, type FieldIssue, FormContext, issuesByPath } from "./form-context.js";
import { readingProblem } from "./json-input.js";
import { sameJson } from "./model/json-members.js";
import { jsonText, readJsonText } from "./model/json-text.js";
import { valueIssues } from "./model/value-issues.js";

interface SchemaFormProps {
  readonly schema: unknown;
  /** The whole value; `initialValue` gives the first. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** What is wrong with the value, shown at the fields. */
  readonly issues?: readonly FieldIssue[] | undefined;
  /** Also show at the fields what keeps the value from fitting the schema, as far as the page can tell. */
  readonly checks?: boolean | undefined;
  /** Begins the ids of all controls; unique in the page. */
  readonly idPrefix: string;
  /** Told when the JSON side, while it is shown, has an error: the value is not what the user sees. */
  readonly onBroken?: ((broken: boolean) => void) | undefined;
  /** Suggests values of the members of the whole. */
  readonly complete?: CompleteText | undefined;
}

const SIDES = [
  { id: "form", title: "Form" },
  { id: "json", title: "JSON" },
] as const;

type Side = (typeof SIDES)[number]["id"];

const NO_ISSUES: readonly FieldIssue[] = [];

/** A form that is generated from a JSON Schema, with the whole value as JSON on its other side. */
export function SchemaForm(props: SchemaFormProps) {
  const { schema, value, onChange, issues = NO_ISSUES, checks = false, idPrefix, onBroken, complete } = props;
  const [side, setSide] = useState<Side>("form");
  // What was typed on the JSON side, and the value that it stood for or was typed over.
  const [draft, setDraft] = useState<{ readonly text: string; readonly value: unknown }>();
  const found = useMemo(() => (checks ? valueIssues(schema, value) : NO_ISSUES), [checks, schema, value]);
  const byPath = useMemo(() => issuesByPath([...issues, ...found]), [issues, found]);
  const surroundings = useMemo(
    () => ({ root: schema, idPrefix, issues: byPath, complete, Field: FieldView }),
    [schema, idPrefix, byPath, complete],
  );
  const problem = draft === undefined ? undefined : readingProblem(readJsonText(draft.text));
  const isBroken = side === "json" && problem !== undefined;
  // At once, because the next key may run the form.
  useLayoutEffect(() => onBroken?.(isBroken), [isBroken, onBroken]);
  return (
    <FormContext.Provider value={surroundings}>
      <div class="forms">
        <Tabs label="Form or JSON" idPrefix={`${idPrefix}-side`} tabs={SIDES} chosen={side} onChoose={setSide} />
        <TabPanel label={`${idPrefix}-side`} chosen={side}>
          {side === "form" ? (
            <>
              {problem !== undefined && (
                <p class="forms-issue">The JSON side has an error and is not used. {problem}</p>
              )}
              {(byPath.get("") ?? []).length > 0 && <p class="forms-issue">{byPath.get("")?.join("; ")}</p>}
              <FieldView schema={schema} value={value} onChange={onChange} path="" name="" required bare depth={0} />
            </>
          ) : (
            <JsonSide {...{ value, onChange, idPrefix, draft, setDraft }} />
          )}
        </TabPanel>
        <Unfit issues={found} places={side === "json"} />
      </div>
    </FormContext.Provider>
  );
}

interface UnfitProps {
  readonly issues: readonly FieldIssue[];
  /** Where no field says what is wrong with it. */
  readonly places: boolean;
}

function Unfit({ issues, places }: UnfitProps) {
  const count = issues.length === 1 ? "1 value does" : `${issues.length} values do`;
  return (
    <div role="status">
      {issues.length > 0 && (
        <p class="forms-issue">{count} not fit the schema; the server is sent what is written here.</p>
      )}
      {places &&
        issues.map(({ path, message }) => (
          <p key={`${path} ${message}`} class="forms-issue">
            <code>{printable(path)}</code> {message}
          </p>
        ))}
    </div>
  );
}

interface JsonSideProps {
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly idPrefix: string;
  readonly draft: { readonly text: string; readonly value: unknown } | undefined;
  readonly setDraft: (draft: { readonly text: string; readonly value: unknown } | undefined) => void;
}

function JsonSide({ value, onChange, idPrefix, draft, setDraft }: JsonSideProps) {
  const draftProblem = draft === undefined ? undefined : readingProblem(readJsonText(draft.text));
  const isCurrent = draft !== undefined && sameJson(draft.value, value);
  // A text with an error is kept, even if the form went on; one without stands for a value that is no longer there.
  const text = draft !== undefined && (isCurrent || draftProblem !== undefined) ? draft.text : jsonText(value);
  const id = `${idPrefix}-json`;
  const onInput = (typed: string) => {
    const reading = readJsonText(typed);
    setDraft({ text: typed, value: reading.ok ? reading.value : value });
    if (reading.ok) onChange(reading.value);
  };
  return (
    <div class="forms-whole">
      <label for={id}>The whole value as JSON</label>
      <textarea
        id={id}
        class="forms-json"
        rows={Math.min(24, Math.max(6, text.split("\n").length + 1))}
        spellcheck={false}
        aria-invalid={draftProblem !== undefined}
        aria-describedby={`${id}-problem`}
        value={text}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <p id={`${id}-problem`} class="forms-issue" aria-live="polite">
        {draftProblem}
      </p>
      {draftProblem !== undefined && (
        <button type="button" onClick={() => setDraft(undefined)}>
          {isCurrent ? "Take back" : "Take the value of the form, which was changed since"}
        </button>
      )}
    </div>
  );
}
