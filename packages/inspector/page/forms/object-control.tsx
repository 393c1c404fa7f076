import { printable } from "@parley/mcp/protocol";
import { useState } from "preact/hooks";
import { type ControlProps, childPath, fieldId, useForm } from "./form-context.js";
import { fitsSchema } from "./model/fits-schema.js";
import type { FieldExtras } from "./model/form-field.js";
import { newItem } from "./model/initial-value.js";
import { isJsonObject, memberOf, withMember, withRenamed } from "./model/json-members.js";

/** Number of members displayed at first, and added by each "Show more". */
const MEMBERS_SHOWN = 50;

/** The members of an object: first those named in the schema, then the other members. */
export function ObjectControl(control: ControlProps<"object">) {
  const { field, props } = control;
  const { Field } = useForm();
  const [shown, setShown] = useState(MEMBERS_SHOWN);
  const { value, onChange, path, depth } = props;
  const known = new Set(field.members.map(({ name }) => name));
  const others = isJsonObject(value) ? Object.keys(value).filter((name) => !known.has(name)) : [];
  const hidden = field.members.length - shown;
  if (field.members.length === 0 && others.length === 0 && field.extras.length === 0) {
    return <p class="soft">{depth === 0 ? "No arguments." : "No members."}</p>;
  }
  const namesNone = depth === 0 && field.members.length === 0 && others.length === 0;
  return (
    <div class="forms-members">
      {namesNone && <p class="soft">The schema names no arguments. You can add any.</p>}
      {field.members.slice(0, shown).map(({ name, schema, required }) => (
        <Field
          key={name}
          {...{ name, schema, required }}
          path={childPath(path, name)}
          depth={depth + 1}
          value={memberOf(value, name)}
          onChange={(member) => onChange(withMember(value, name, member))}
        />
      ))}
      {hidden > 0 && (
        <button type="button" class="quiet" onClick={() => setShown(shown + MEMBERS_SHOWN)}>
          Show {Math.min(hidden, MEMBERS_SHOWN)} more of {hidden}
        </button>
      )}
      {others.slice(0, shown).map((name) => (
        <OtherMember key={name} name={name} control={control} />
      ))}
      {others.length > shown && <p class="soft">{others.length - shown} more members are shown in the JSON.</p>}
      {field.extras.length > 0 && <NewMember control={control} />}
    </div>
  );
}

/** A member not named in the schema. Uses the schema for additional members if there is one, otherwise JSON. */
function OtherMember({ name, control }: { readonly name: string; readonly control: ControlProps<"object"> }) {
  const { field, props } = control;
  const { Field, root, idPrefix } = useForm();
  const [typed, setTyped] = useState(name);
  const { value, onChange, path, depth } = props;
  const member = memberOf(value, name);
  const schema =
    field.extras.find((extras) => fitsSchema(extras.schema, member, root))?.schema ?? field.extras[0]?.schema;
  const rename = () => {
    const renamed = withRenamed(value, name, typed);
    if (renamed === value) setTyped(name);
    else onChange(renamed);
  };
  return (
    <div class="forms-other">
      <input
        type="text"
        id={`${fieldId(idPrefix, childPath(path, name))}-name`}
        aria-label={`Name of the member ${printable(name)}`}
        spellcheck={false}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={rename}
      />
      <Field
        {...{ name, schema: schema ?? true }}
        bare
        required
        path={childPath(path, name)}
        depth={depth + 1}
        value={member}
        onChange={(next) => next !== undefined && onChange(withMember(value, name, next))}
      />
      <button
        type="button"
        class="quiet"
        aria-label={`Remove ${printable(name)}`}
        onClick={() => onChange(withMember(value, name, undefined))}
      >
        Remove
      </button>
    </div>
  );
}

function NewMember({ control }: { readonly control: ControlProps<"object"> }) {
  const { field, props } = control;
  const { root } = useForm();
  const [name, setName] = useState("");
  const [kind, setKind] = useState(0);
  const extras = field.extras[kind] ?? field.extras[0];
  const isTaken = memberOf(props.value, name) !== undefined || field.members.some((member) => member.name === name);
  const add = () => {
    if (isTaken || extras === undefined) return;
    props.onChange(withMember(props.value, name, newItem(extras.schema, root)));
    setName("");
  };
  const where = props.name === "" ? "" : ` of ${printable(props.name)}`;
  return (
    <div class="forms-row forms-new">
      {field.extras.length > 1 && (
        <select
          aria-label={`Kind of a new member${where}`}
          value={String(kind)}
          onChange={(event) => setKind(Number(event.currentTarget.value))}
        >
          {field.extras.map((each, index) => (
            <option key={each.pattern ?? ""} value={String(index)}>
              {patternOf(each)}
            </option>
          ))}
        </select>
      )}
      <input
        type="text"
        aria-label={`Name of a new member${where}`}
        placeholder={extras?.pattern === undefined ? "name" : printable(extras.pattern)}
        spellcheck={false}
        value={name}
        aria-invalid={name !== "" && isTaken}
        onInput={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.ctrlKey) return;
          event.preventDefault();
          add();
        }}
      />
      <button type="button" disabled={isTaken} onClick={add}>
        Add member{where}
      </button>
    </div>
  );
}

const patternOf = ({ pattern }: FieldExtras) =>
  pattern === undefined ? "any name" : `name matching ${printable(pattern)}`;
