import { printable } from "@parley/mcp/protocol";
import { useRef, useState } from "preact/hooks";
import { type ControlProps, childPath, useForm } from "./form-context.js";
import { newItem } from "./model/initial-value.js";
import { withItem, withMoved, withoutItem } from "./model/json-members.js";

/** Number of items displayed at first, and added by each "Show more". */
const ITEMS_SHOWN = 50;

/**
 * Returns one key per item. The caller moves and removes keys together with the items, so that half-typed input stays
 * with its item.
 */
function useItemKeys(length: number) {
  const keys = useRef<readonly number[]>([]);
  const next = useRef(0);
  if (keys.current.length > length) keys.current = keys.current.slice(0, length);
  while (keys.current.length < length) keys.current = [...keys.current, next.current++];
  return keys;
}

/** The items of a list. */
export function ArrayControl(control: ControlProps<"array">) {
  const { field, props, id } = control;
  const { root } = useForm();
  const [shown, setShown] = useState(ITEMS_SHOWN);
  const items: readonly unknown[] = Array.isArray(props.value) ? props.value : [];
  const keys = useItemKeys(items.length);
  const schemaAt = (index: number) => (index < field.prefix.length ? field.prefix[index] : field.items);
  const mayGrow = items.length < field.maxItems && (items.length < field.prefix.length || field.items !== undefined);
  const move = (index: number, by: -1 | 1) => {
    keys.current = withMoved(keys.current, index, by);
    props.onChange(withMoved(items, index, by));
  };
  const remove = (index: number) => {
    keys.current = withoutItem(keys.current, index);
    props.onChange(withoutItem(items, index));
  };
  return (
    <div class="forms-items">
      {items.slice(0, shown).map((item, index) => (
        <Item
          key={keys.current[index]}
          {...{ control, item, index, move, remove }}
          schema={schemaAt(index) ?? true}
          count={items.length}
          onChange={(next) => props.onChange(withItem(items, index, next))}
        />
      ))}
      {items.length > shown && (
        <button type="button" class="quiet" onClick={() => setShown(shown + ITEMS_SHOWN)}>
          Show {Math.min(items.length - shown, ITEMS_SHOWN)} more of {items.length - shown}
        </button>
      )}
      <div class="forms-row">
        <button
          type="button"
          id={id}
          disabled={!mayGrow}
          onClick={() => props.onChange([...items, newItem(schemaAt(items.length) ?? true, root)])}
        >
          Add item{props.name === "" ? "" : ` to ${printable(props.name)}`}
        </button>
        {props.value === undefined && props.required && (
          <button type="button" class="quiet" onClick={() => props.onChange([])}>
            Empty list
          </button>
        )}
      </div>
    </div>
  );
}

interface ItemProps {
  readonly control: ControlProps<"array">;
  readonly schema: unknown;
  readonly item: unknown;
  readonly index: number;
  readonly count: number;
  readonly onChange: (item: unknown) => void;
  readonly move: (index: number, by: -1 | 1) => void;
  readonly remove: (index: number) => void;
}

function Item({ control, schema, item, index, count, onChange, move, remove }: ItemProps) {
  const { Field } = useForm();
  const { path, depth, name } = control.props;
  const place = `${printable(name)} ${index + 1}`.trim();
  return (
    <div class="forms-item">
      <Field
        {...{ schema, onChange }}
        bare
        required
        name={`${name} ${index + 1}`.trim()}
        value={item}
        path={childPath(path, index)}
        depth={depth + 1}
      />
      <span class="forms-item-buttons">
        <button
          type="button"
          class="quiet"
          aria-label={`Move ${place} up`}
          disabled={index === 0}
          onClick={() => move(index, -1)}
        >
          ↑
        </button>
        <button
          type="button"
          class="quiet"
          aria-label={`Move ${place} down`}
          disabled={index === count - 1}
          onClick={() => move(index, 1)}
        >
          ↓
        </button>
        <button type="button" class="quiet" aria-label={`Remove ${place}`} onClick={() => remove(index)}>
          ✕
        </button>
      </span>
    </div>
  );
}
