import { printable } from "@parley/mcp/protocol";
import { useState } from "preact/hooks";
import { CompletingInput } from "./completing-input.js";
import { type ControlProps, useForm } from "./form-context.js";
import { sameJson } from "./model/json-members.js";
import { readNumberText } from "./model/json-text.js";

/** The attributes common to all controls. */
function labelsOf({ id, label, describedBy, invalid }: ControlProps) {
  return { id, "aria-label": label, "aria-describedby": describedBy, "aria-invalid": invalid } as const;
}

function namesOf(control: ControlProps) {
  return { ...labelsOf(control), "aria-required": control.props.required } as const;
}

/** Keyboard layouts of phones for some formats. */
const INPUT_MODES: Readonly<Record<string, "email" | "url">> = { email: "email", uri: "url", "uri-reference": "url" };

type InputEvent = { readonly currentTarget: { readonly value: string } };

/** A string. */
export function TextControl(control: ControlProps<"text">) {
  const { props } = control;
  const { complete } = useForm();
  const value = typeof props.value === "string" ? props.value : undefined;
  if (complete === undefined || props.depth !== 1) return <FormatControl {...control} />;
  const { id, label, describedBy, invalid } = control;
  return (
    <CompletingInput
      {...{ id, label, describedBy, invalid, complete, value }}
      name={props.name}
      required={props.required}
      onChange={props.onChange}
    />
  );
}

/** A string, with an input that suits its format. Without a special input, the string may have several lines. */
function FormatControl(control: ControlProps<"text">) {
  const { field, props } = control;
  const value = typeof props.value === "string" ? props.value : "";
  const onInput = (event: InputEvent) => props.onChange(event.currentTarget.value);
  const names = { ...namesOf(control), value, onInput };
  const format = field.format ?? "";
  // A date input would show an invalid date as empty, so an invalid date gets a text input.
  if (format === "date" && (value === "" || /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value))) {
    return <input type="date" {...names} />;
  }
  if (format === "date-time") {
    return (
      <div class="forms-row">
        <input type="text" placeholder="2026-01-31T12:00:00Z" {...names} />
        <button type="button" onClick={() => props.onChange(new Date().toISOString())}>
          Now
        </button>
      </div>
    );
  }
  const inputMode = Object.hasOwn(INPUT_MODES, format) ? INPUT_MODES[format] : undefined;
  if (inputMode !== undefined) return <input type="text" inputMode={inputMode} spellcheck={false} {...names} />;
  return (
    <textarea
      class={field.multiline ? "forms-text forms-lines" : "forms-text"}
      rows={field.multiline ? 4 : 1}
      spellcheck={false}
      {...names}
    />
  );
}

/** A number. Invalid text stays in the field and is reported. */
export function NumberControl(control: ControlProps<"number">) {
  const { field, props } = control;
  const value = typeof props.value === "number" ? props.value : undefined;
  const [typed, setTyped] = useState("");
  const reading = readNumberText(typed, field.integer);
  const isCurrent = reading.value === value;
  const text = isCurrent ? typed : value === undefined ? "" : String(value);
  const problem = isCurrent ? reading.problem : undefined;
  const problemId = `${control.id}-number`;
  const names = namesOf(control);
  return (
    <>
      <input
        type="text"
        inputMode={field.integer ? "numeric" : "decimal"}
        {...names}
        aria-invalid={control.invalid || problem !== undefined}
        aria-describedby={problem === undefined ? names["aria-describedby"] : problemId}
        value={text}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          props.onChange(readNumberText(currentTarget.value, field.integer).value);
        }}
      />
      {problem !== undefined && (
        <p class="forms-issue" id={problemId}>
          {problem}
        </p>
      )}
    </>
  );
}

/** True, false or absent. Absent is shown as indeterminate. */
export function BooleanControl(control: ControlProps<"boolean">) {
  const { value, onChange } = control.props;
  return (
    <span class="forms-row">
      <input
        type="checkbox"
        {...labelsOf(control)}
        checked={value === true}
        indeterminate={value === undefined}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span class="soft">{value === undefined ? "not set" : String(value)}</span>
    </span>
  );
}

/** Null as the only value. */
export function NullControl(control: ControlProps<"null">) {
  const { value, onChange } = control.props;
  return (
    <span class="forms-row">
      <input
        type="checkbox"
        {...labelsOf(control)}
        checked={value === null}
        onChange={(event) => onChange(event.currentTarget.checked ? null : undefined)}
      />
      <span class="soft">{value === null ? "null" : "not set"}</span>
    </span>
  );
}

/** Selects one of the listed values. */
export function ChoiceControl(control: ControlProps<"choice">) {
  const { field, props } = control;
  const chosen = field.options.findIndex(({ value }) => props.value !== undefined && sameJson(value, props.value));
  const [only] = field.options;
  // A required constant leaves nothing to choose.
  if (chosen === 0 && field.options.length === 1 && props.required) {
    return (
      <output id={control.id} aria-label={control.label}>
        {printable(only?.title ?? "")}
      </output>
    );
  }
  return (
    <select
      {...namesOf(control)}
      value={String(chosen)}
      onChange={({ currentTarget }) => props.onChange(field.options[Number(currentTarget.value)]?.value)}
    >
      {(chosen < 0 || !props.required) && <option value="-1">— not set —</option>}
      {field.options.map(({ title, description }, index) => (
        <option key={title} value={String(index)} title={description}>
          {printable(title)}
        </option>
      ))}
    </select>
  );
}

/** Number of options displayed at first, and added by each "Show more". */
const OPTIONS_SHOWN = 100;

/** Selects any number of the listed values. */
export function ChoicesControl(control: ControlProps<"choices">) {
  const { field, props, id } = control;
  const [shown, setShown] = useState(OPTIONS_SHOWN);
  const chosen: readonly unknown[] = Array.isArray(props.value) ? props.value : [];
  const toggle = (value: unknown, isChosen: boolean) =>
    props.onChange(isChosen ? [...chosen, value] : chosen.filter((each) => !sameJson(each, value)));
  return (
    <div class="forms-choices">
      {field.options.slice(0, shown).map(({ value, title, description }, index) => (
        <label key={title} title={description}>
          <input
            type="checkbox"
            id={index === 0 ? id : undefined}
            checked={chosen.some((each) => sameJson(each, value))}
            onChange={(event) => toggle(value, event.currentTarget.checked)}
          />
          {printable(title)}
        </label>
      ))}
      {field.options.length > shown && (
        <button type="button" class="quiet" onClick={() => setShown(shown + OPTIONS_SHOWN)}>
          Show {field.options.length - shown} more
        </button>
      )}
    </div>
  );
}
