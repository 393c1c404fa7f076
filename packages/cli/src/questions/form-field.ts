import { listOf, memberOf, resolveSchema, typesOf } from "./typed-value.js";

/** One value of an enumeration. */
export interface Choice {
  readonly value: string | number | boolean;
  readonly label: string;
}

/** One field of a form, prepared for display. */
export interface FormField {
  readonly name: string;
  /** The schema of the field, with references resolved. */
  readonly schema: unknown;
  readonly label: string;
  readonly description: string;
  readonly required: boolean;
  readonly kind: "text" | "boolean" | "choice" | "choices";
  readonly choices: readonly Choice[];
  readonly preset: unknown;
}

/**
 * Limits for the terminal. A form with more fields is not shown, a field with more choices asks for text, and longer
 * labels and descriptions are cut.
 */
const MAX_FIELDS = 100;
const MAX_CHOICES = 500;
const MAX_LABEL_LENGTH = 120;
const MAX_DESCRIPTION_LENGTH = 500;

/** The fields of an object schema, in the schema's order. Undefined if there are more than `MAX_FIELDS`. */
export function formFields(schema: unknown): readonly FormField[] | undefined {
  const properties = Object.entries((memberOf(schema, "properties") ?? {}) as object);
  if (properties.length > MAX_FIELDS) return undefined;
  const required = new Set(listOf(memberOf(schema, "required")));
  return properties.map(([name, property]) => fieldOf(name, property, schema, required.has(name)));
}

function fieldOf(name: string, property: unknown, root: unknown, required: boolean): FormField {
  const schema = resolveSchema(property, root);
  const types = typesOf(schema, root);
  const list = types.size === 1 && types.has("array");
  const choices = choicesOf(list ? resolveSchema(memberOf(schema, "items"), root) : schema);
  const kind =
    choices.length > 0 ? (list ? "choices" : "choice") : types.size === 1 && types.has("boolean") ? "boolean" : "text";
  return {
    name,
    schema,
    label: clip(textOf(memberOf(schema, "title")) || name, MAX_LABEL_LENGTH),
    description: clip(textOf(memberOf(schema, "description")), MAX_DESCRIPTION_LENGTH),
    required,
    kind,
    choices,
    preset: memberOf(schema, "default"),
  };
}

/** The values that a schema enumerates, with titles from `enumNames`, or from `title` beside `const`. */
function choicesOf(schema: unknown): readonly Choice[] {
  const titles = listOf(memberOf(schema, "enumNames"));
  const plain = listOf(memberOf(schema, "enum")).map((value, at) => [value, titles[at]] as const);
  const titled = [...listOf(memberOf(schema, "oneOf")), ...listOf(memberOf(schema, "anyOf"))].map(
    (one) => [memberOf(one, "const"), memberOf(one, "title")] as const,
  );
  const all = plain.length > 0 ? plain : titled;
  if (all.length > MAX_CHOICES || !all.every(([value]) => isPlain(value))) return [];
  return all.flatMap(([value, title]) =>
    isPlain(value) ? [{ value, label: clip(textOf(title) || String(value), MAX_LABEL_LENGTH) }] : [],
  );
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Shortens a text from the server to `maxLength` characters. */
export function clip(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
}
