import { printable } from "@parley/mcp/protocol";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { ArrayControl } from "./array-control.js";
import { BranchesControl } from "./branches-control.js";
import { type ControlProps, type FieldProps, fieldId, useForm } from "./form-context.js";
import { JsonInput } from "./json-input.js";
import { canShowValue } from "./model/field-branches.js";
import { jsonTypeOf } from "./model/fits-schema.js";
import type { FormField } from "./model/form-field.js";
import { formFieldOf } from "./model/form-model.js";
import { newItem } from "./model/initial-value.js";
import { ObjectControl } from "./object-control.js";
import {
  BooleanControl,
  ChoiceControl,
  ChoicesControl,
  NullControl,
  NumberControl,
  TextControl,
} from "./scalar-controls.js";

/** Maximum number of nesting levels shown as fields. Deeper values are edited as JSON. */
const MAX_FIELD_DEPTH = 24;
/**
 * Maximum number of displayed characters of a description. The rest is cut off, because servers can send any length.
 */
const MAX_DESCRIPTION_LENGTH = 2_000;

/** One field of a form with its name, description, hints and issues. */
export function FieldView(props: FieldProps) {
  const { schema, value, path } = props;
  const form = useForm();
  const field = useMemo(() => formFieldOf(schema, form.root, value), [schema, form.root, value]);
  const id = fieldId(form.idPrefix, path);
  const issues = form.issues.get(path) ?? [];
  const about = aboutOf(field, props);
  const isGroup = isGroupKind(field) && canShowValue(field, value) && value !== null && props.depth <= MAX_FIELD_DEPTH;
  const describedBy = about.length > 0 || issues.length > 0 ? `${id}-about` : undefined;
  const label = props.bare === true ? printable(props.name) || "Value" : undefined;
  const control = { field, id, label, describedBy, invalid: issues.length > 0, props };
  const inner = (
    <>
      {(value !== null || !field.nullable) && <Control {...control} />}
      {describedBy !== undefined && (
        <div id={describedBy} class="forms-about">
          {about.map((text) => (
            <p key={text}>{text}</p>
          ))}
          {issues.map((issue) => (
            <p key={issue} class="forms-issue">
              {printable(issue)}
            </p>
          ))}
        </div>
      )}
    </>
  );
  return <Frame {...{ field, props, id, isGroup }}>{inner}</Frame>;
}

const isGroupKind = ({ kind }: FormField) =>
  kind === "object" || kind === "array" || kind === "choices" || kind === "branches";

function aboutOf(field: FormField, { bare, depth }: FieldProps): readonly string[] {
  const description = field.description === undefined || (bare === true && depth === 0) ? undefined : field.description;
  const short =
    description === undefined || description.length <= MAX_DESCRIPTION_LENGTH
      ? description
      : `${description.slice(0, MAX_DESCRIPTION_LENGTH)}…`;
  return [short, field.hints.length === 0 ? undefined : field.hints.join(" · ")]
    .filter((text) => text !== undefined && text !== "")
    .map((text) => printable(String(text)));
}

interface FrameProps {
  readonly field: FormField;
  readonly props: FieldProps;
  readonly id: string;
  readonly isGroup: boolean;
  readonly children: ComponentChildren;
}

function Frame({ field, props, id, isGroup, children }: FrameProps) {
  if (props.bare === true) {
    return (
      <div class="forms-field forms-bare">
        {field.nullable && <NullSwitch {...{ field, props }} />}
        {children}
      </div>
    );
  }
  if (isGroup) {
    return (
      <fieldset class="forms-field forms-group">
        <legend>
          <FieldName {...{ field, props }} />
        </legend>
        <FieldMarks {...{ field, props }} />
        {children}
      </fieldset>
    );
  }
  return (
    <div class="forms-field">
      <div class="forms-head">
        <label for={id}>
          <FieldName {...{ field, props }} />
        </label>
        <FieldMarks {...{ field, props }} />
      </div>
      {children}
    </div>
  );
}

function FieldName({ field, props }: { readonly field: FormField; readonly props: FieldProps }) {
  const { name, required } = props;
  const title = field.title === undefined || field.title === name ? undefined : field.title;
  return (
    <>
      {title !== undefined && <span>{printable(title)} </span>}
      <code class={required ? "forms-required" : undefined}>{printable(name)}</code>
    </>
  );
}

function FieldMarks({ field, props }: { readonly field: FormField; readonly props: FieldProps }) {
  const { value, onChange, required, name } = props;
  return (
    <span class="forms-marks">
      <span class="soft">{typeNameOf(field)}</span>
      {field.deprecated && <span class="forms-deprecated">deprecated</span>}
      {field.nullable && <NullSwitch {...{ field, props }} />}
      {value === undefined && !required && <span class="soft">not set</span>}
      {value !== undefined && !required && (
        <button type="button" class="quiet" aria-label={`Clear ${printable(name)}`} onClick={() => onChange(undefined)}>
          Clear
        </button>
      )}
    </span>
  );
}

function typeNameOf(field: FormField): string {
  if (field.kind === "number" && field.integer) return "integer";
  if (field.kind === "choice" && field.options.length === 1) return "constant";
  const names: Partial<Record<FormField["kind"], string>> = {
    text: "string",
    choices: "several of",
    choice: "one of",
    branches: "one of",
    json: "JSON",
  };
  return names[field.kind] ?? field.kind;
}

function NullSwitch({ props, field }: { readonly props: FieldProps; readonly field: FormField }) {
  const { root } = useForm();
  const leave = () =>
    props.onChange(
      props.required ? newItem({ ...field.schema, nullable: false, type: plainType(field) }, root) : undefined,
    );
  return (
    <label class="forms-null">
      <input
        type="checkbox"
        aria-label={`${printable(props.name)} is null`}
        checked={props.value === null}
        onChange={(event) => (event.currentTarget.checked ? props.onChange(null) : leave())}
      />
      null
    </label>
  );
}

/** The type without null. */
function plainType(field: FormField): unknown {
  const type = field.schema["type"];
  return Array.isArray(type) ? type.filter((each) => each !== "null") : type;
}

function Control(control: ControlProps) {
  const { field, id, label, describedBy, props } = control;
  const { root } = useForm();
  const { value, onChange, depth } = props;
  if (!canShowValue(field, value) || depth > MAX_FIELD_DEPTH) {
    return (
      <>
        <JsonInput {...{ id, label, describedBy, value, onChange }} />
        {depth <= MAX_FIELD_DEPTH && (
          <p class="forms-issue">
            The schema expects {typeNameOf(field)}, but this is {jsonTypeOf(value)}.{" "}
            <button type="button" class="quiet" onClick={() => onChange(newItem(field.schema, root))}>
              Reset
            </button>
          </p>
        )}
      </>
    );
  }
  if (field.kind === "object" && value === undefined && depth > 0) {
    return (
      <button
        type="button"
        id={id}
        aria-label={`Add ${printable(props.name)}`}
        onClick={() => onChange(newItem(field.schema, root))}
      >
        Add
      </button>
    );
  }
  return <KindControl {...control} />;
}

function KindControl({ field, ...rest }: ControlProps) {
  switch (field.kind) {
    case "text":
      return <TextControl {...rest} field={field} />;
    case "number":
      return <NumberControl {...rest} field={field} />;
    case "boolean":
      return <BooleanControl {...rest} field={field} />;
    case "null":
      return <NullControl {...rest} field={field} />;
    case "choice":
      return <ChoiceControl {...rest} field={field} />;
    case "choices":
      return <ChoicesControl {...rest} field={field} />;
    case "object":
      return <ObjectControl {...rest} field={field} />;
    case "array":
      return <ArrayControl {...rest} field={field} />;
    case "branches":
      return <BranchesControl {...rest} field={field} />;
    case "json": {
      const { id, label, describedBy, props } = rest;
      return (
        <>
          <JsonInput {...{ id, label, describedBy }} value={props.value} onChange={props.onChange} />
          {field.problem !== undefined && (
            <p class="forms-issue">{printable(field.problem)} Enter the value as JSON.</p>
          )}
        </>
      );
    }
  }
}
