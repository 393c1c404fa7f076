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
  /** The whole value. `initialValue` returns the value to start with. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** Issues to show at the fields, such as those of a rejected answer. */
  readonly issues?: readonly FieldIssue[] | undefined;
  /** Also validates the value, as far as the page can, and shows the issues at the fields. */
  readonly checks?: boolean | undefined;
  /** Prefix of the ids of all controls. Must be unique in the page. */
  readonly idPrefix: string;
  /**
   * Called with true when the open JSON tab has invalid text, and with false when the text is valid again or the form
   * tab is open. Invalid text is not part of the value.
   */
  readonly onBroken?: ((broken: boolean) => void) | undefined;
  /** Suggests values for the top-level members. */
  readonly complete?: CompleteText | undefined;
}

const SIDES = [
  { id: "form", title: "Form" },
  { id: "json", title: "JSON" },
] as const;

type Side = (typeof SIDES)[number]["id"];

const NO_ISSUES: readonly FieldIssue[] = [];

/** A form generated from a JSON Schema, with a second tab that edits the whole value as JSON. */
export function SchemaForm(props: SchemaFormProps) {
  const { schema, value, onChange, issues = NO_ISSUES, checks = false, idPrefix, onBroken, complete } = props;
  const [side, setSide] = useState<Side>("form");
  // The text typed in the JSON tab. `value` is the value of that text or, if the text is invalid, the value that the
  // form had when the text was typed.
  const [draft, setDraft] = useState<{ readonly text: string; readonly value: unknown }>();
  const found = useMemo(() => (checks ? valueIssues(schema, value) : NO_ISSUES), [checks, schema, value]);
  const byPath = useMemo(() => issuesByPath([...issues, ...found]), [issues, found]);
  const context = useMemo(
    () => ({ root: schema, idPrefix, issues: byPath, complete, Field: FieldView }),
    [schema, idPrefix, byPath, complete],
  );
  const problem = draft === undefined ? undefined : readingProblem(readJsonText(draft.text));
  const isBroken = side === "json" && problem !== undefined;
  // A layout effect, so that `onBroken` is called before the next key, which may submit the form.
  useLayoutEffect(() => onBroken?.(isBroken), [isBroken, onBroken]);
  return (
    <FormContext.Provider value={context}>
      <div class="forms">
        <Tabs label="Form or JSON" idPrefix={`${idPrefix}-side`} tabs={SIDES} chosen={side} onChoose={setSide} />
        <TabPanel label={`${idPrefix}-side`} chosen={side}>
          {side === "form" ? (
            <>
              {problem !== undefined && (
                <p class="forms-issue">The text in the JSON tab is invalid and is not used. {problem}</p>
              )}
              {(byPath.get("") ?? []).length > 0 && <p class="forms-issue">{byPath.get("")?.join("; ")}</p>}
              <FieldView schema={schema} value={value} onChange={onChange} path="" name="" required bare depth={0} />
            </>
          ) : (
            <JsonSide {...{ value, onChange, idPrefix, draft, setDraft }} />
          )}
        </TabPanel>
        <IssueSummary issues={found} places={side === "json"} />
      </div>
    </FormContext.Provider>
  );
}

interface IssueSummaryProps {
  readonly issues: readonly FieldIssue[];
  /** True if the issues are listed with their paths, because no field shows them. */
  readonly places: boolean;
}

function IssueSummary({ issues, places }: IssueSummaryProps) {
  const words =
    issues.length === 1
      ? "1 value does not match the schema. You can still send it."
      : `${issues.length} values do not match the schema. You can still send them.`;
  return (
    <div role="status">
      {issues.length > 0 && <p class="forms-issue">{words}</p>}
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
  // An invalid text stays even if the form has changed the value. A valid text is replaced once its value is outdated.
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
          {isCurrent ? "Discard changes" : "Discard this text and use the current value of the form"}
        </button>
      )}
    </div>
  );
}
