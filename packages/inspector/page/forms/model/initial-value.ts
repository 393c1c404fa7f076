import type { FormField } from "./form-field.js";
import { formFieldOf } from "./form-model.js";

/** How deep, and how many values, are filled in before the user does anything. */
const DEEPEST_FILLED = 8;
const MOST_FILLED = 2_000;
const MOST_FIRST_ITEMS = 20;

interface Filling {
  readonly root: unknown;
  filled: number;
}

/**
 * The value that a form begins with: defaults, the only possible values, and the objects and lists that are demanded. What the user
 * has to say is left out.
 */
export function initialValue(schema: unknown, root: unknown): unknown {
  return filledIn(schema, { root, filled: 0 }, true, 0);
}

function filledIn(schema: unknown, filling: Filling, isRequired: boolean, depth: number): unknown {
  if (depth > DEEPEST_FILLED || ++filling.filled > MOST_FILLED) return undefined;
  const field = formFieldOf(schema, filling.root, undefined);
  const given = field.schema["default"];
  if (given !== undefined) return completed(field, given, filling, depth);
  if (!isRequired) return undefined;
  if (field.kind === "boolean") return false;
  if (field.kind === "null") return null;
  if (field.nullable) return undefined;
  if (field.kind === "choice") return field.options.length === 1 ? field.options[0]?.value : undefined;
  if (field.kind === "object") return objectOf(field, filling, depth);
  if (field.kind === "array") return itemsOf(field, filling, depth);
  if (field.kind === "choices") return [];
  const [first] = field.kind === "branches" ? field.branches : [];
  return first === undefined ? undefined : filledIn(first.schema, filling, true, depth + 1);
}

/** A default of an object may leave out what its members default to. */
function completed(field: FormField, given: unknown, filling: Filling, depth: number): unknown {
  if (field.kind !== "object" || typeof given !== "object" || given === null || Array.isArray(given)) return given;
  const filled = objectOf(field, filling, depth);
  return typeof filled === "object" ? { ...filled, ...given } : given;
}

function objectOf(field: FormField & { kind: "object" }, filling: Filling, depth: number): unknown {
  const entries = field.members
    .map(({ name, schema, required }) => [name, filledIn(schema, filling, required, depth + 1)] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

function itemsOf(field: FormField & { kind: "array" }, filling: Filling, depth: number): unknown[] {
  const count = Math.min(Math.max(field.minItems, 0), MOST_FIRST_ITEMS);
  return Array.from({ length: count }, (_, index) => {
    const schema = index < field.prefix.length ? field.prefix[index] : field.items;
    // A place in a list cannot be left out.
    return filledIn(schema, filling, true, depth + 1) ?? firstValue(formFieldOf(schema, filling.root, undefined));
  });
}

/** A value for a place that must have one, such as a new item of a list. */
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

/** A new item for a list. */
export function newItem(schema: unknown, root: unknown): unknown {
  return initialValue(schema, root) ?? firstValue(formFieldOf(schema, root, undefined));
}
