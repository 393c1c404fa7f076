import { printable } from "@parley/mcp/protocol";
import { useRef, useState } from "preact/hooks";
import { type ControlProps, useForm } from "./form-context.js";
import { branchOfValue } from "./model/field-branches.js";
import { newItem } from "./model/initial-value.js";

/** Selects one of several shapes and shows its field. Restores the value of a shape that was selected before. */
export function BranchesControl(control: ControlProps<"branches">) {
  const { field, props, id } = control;
  const { Field, root } = useForm();
  const [picked, setPicked] = useState<{ readonly branch: number; readonly value: unknown }>();
  const kept = useRef(new Map<number, unknown>());
  // A value that differs from the picked one was set outside of this control, so the branch is derived from the value.
  const isPicked = picked !== undefined && Object.is(picked.value, props.value);
  const branch = isPicked ? picked.branch : branchOfValue(field.branches, props.value, root);
  const chosen = branch === undefined ? undefined : field.branches[branch];
  const change = (value: unknown, of = branch) => {
    if (of !== undefined) setPicked({ branch: of, value });
    props.onChange(value);
  };
  const choose = (next: number) => {
    if (branch !== undefined) kept.current.set(branch, props.value);
    const shape = field.branches[next];
    if (shape === undefined) {
      setPicked(undefined);
      props.onChange(undefined);
    } else change(kept.current.get(next) ?? newItem(shape.schema, root), next);
  };
  return (
    <div class="forms-branches">
      <select
        id={id}
        aria-label={`Shape of ${props.name === "" ? "the value" : printable(props.name)}`}
        aria-describedby={control.describedBy}
        value={String(branch ?? -1)}
        onChange={(event) => choose(Number(event.currentTarget.value))}
      >
        {(branch === undefined || !props.required) && <option value="-1">— not set —</option>}
        {field.branches.map(({ title }, index) => (
          <option key={title} value={String(index)}>
            {printable(title)}
          </option>
        ))}
      </select>
      {chosen !== undefined && (
        <Field
          key={branch}
          {...props}
          bare
          required
          schema={chosen.schema}
          depth={props.depth + 1}
          onChange={(value) => change(value)}
        />
      )}
    </div>
  );
}
