import type { FormField } from "./form-field.js";
import { formFieldOf } from "./form-model.js";

/**
 * Limits of the values that are filled in automatically: their depth, their number, and the number of items in one
 * list. Values beyond these limits stay unset.
 */
const MAX_FILL_DEPTH = 8;
const MAX_FILLED_VALUES = 2_000;
const MAX_FIRST_ITEMS = 20;

interface FillState {
  readonly root: unknown;
  filled: number;
}

/**
 * The initial value of a form: defaults, constants, and required objects, lists, booleans and nulls. Leaves out values
 * that the user must choose.
 */
export function initialValue(schema: unknown, root: unknown): unknown {
  return fillSchema(schema, { root, filled: 0 }, true, 0);
}

function fillSchema(schema: unknown, state: FillState, isRequired: boolean, depth: number): unknown {
  if (depth > MAX_FILL_DEPTH || ++state.filled > MAX_FILLED_VALUES) return undefined;
  const field = formFieldOf(schema, state.root, undefined);
  const given = field.schema["default"];
  if (given !== undefined) return withMemberDefaults(field, given, state, depth);
  if (!isRequired) return undefined;
  if (field.kind === "boolean") return false;
  if (field.kind === "null") return null;
  if (field.nullable) return undefined;
  if (field.kind === "choice") return field.options.length === 1 ? field.options[0]?.value : undefined;
  if (field.kind === "object") return objectOf(field, state, depth);
  if (field.kind === "array") return itemsOf(field, state, depth);
  if (field.kind === "choices") return [];
  const [first] = field.kind === "branches" ? field.branches : [];
  return first === undefined ? undefined : fillSchema(first.schema, state, true, depth + 1);
}

/** Adds the defaults of the members to the default of an object. */
function withMemberDefaults(field: FormField, given: unknown, state: FillState, depth: number): unknown {
  if (field.kind !== "object" || typeof given !== "object" || given === null || Array.isArray(given)) return given;
  const filled = objectOf(field, state, depth);
  return typeof filled === "object" ? { ...filled, ...given } : given;
}

function objectOf(field: FormField & { kind: "object" }, state: FillState, depth: number): unknown {
  const entries = field.members
    .map(({ name, schema, required }) => [name, fillSchema(schema, state, required, depth + 1)] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

function itemsOf(field: FormField & { kind: "array" }, state: FillState, depth: number): unknown[] {
  const count = Math.min(Math.max(field.minItems, 0), MAX_FIRST_ITEMS);
  return Array.from({ length: count }, (_, index) => {
    const schema = index < field.prefix.length ? field.prefix[index] : field.items;
    // An item of a list cannot be left out, so an item without an initial value gets a placeholder.
    return fillSchema(schema, state, true, depth + 1) ?? firstValue(formFieldOf(schema, state.root, undefined));
  });
}

/** A value for a place that must have one, such as a new list item. */
function firstValue(field: FormField): unknown {
  if (field.nullable) return null;
  switch (field.kind) {
    case "text":
      return "";
    case "number":
      return 0;
    case "boolean":
      return false;
    case "choice":
      return field.options[0]?.value ?? null;
    case "object":
      return {};
    case "array":
    case "choices":
      return [];
    default:
      return null;
  }
}

/** Returns a new item for a list. */
export function newItem(schema: unknown, root: unknown): unknown {
  return initialValue(schema, root) ?? firstValue(formFieldOf(schema, root, undefined));
}
