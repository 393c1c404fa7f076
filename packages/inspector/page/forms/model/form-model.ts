import { choiceOptions } from "./choice-options.js";
import { branchesOf } from "./field-branches.js";
import { fieldHints, onlyRequiresMembers } from "./field-hints.js";
import { type FieldCommon, type FieldExtras, type FieldMember, type FormField, MAX_MEMBERS } from "./form-field.js";
import { isJsonObject, sameJson } from "./json-members.js";
import { mergeSchemas, type SchemaObject } from "./merge-schemas.js";
import { resolveSchema } from "./resolve-schema.js";

/** Maximum nesting depth of alternatives that one field resolves. Deeper alternatives are ignored. */
const MAX_ALTERNATIVES_DEPTH = 8;

/** Converts a schema to a field. References are resolved in `root`, and conditions are evaluated for `value`. */
export function formFieldOf(schema: unknown, root: unknown, value: unknown): FormField {
  const { schema: resolved, problem } = resolveSchema(schema, root, value);
  const field = fieldOfResolved(resolved, root, value, 0);
  return problem === undefined || field.kind !== "json" ? field : { ...field, problem };
}

function fieldOfResolved(schema: SchemaObject, root: unknown, value: unknown, depth: number): FormField {
  const common = commonOf(schema);
  const options = choiceOptions(schema, root);
  if (options !== undefined) return { ...common, kind: "choice", options };
  const alternatives = alternativesOf(schema);
  if (alternatives !== undefined) {
    const { oneOf: _oneOf, anyOf: _anyOf, ...rest } = schema;
    const others = alternatives.filter((each) => !isNullSchema(each));
    const nullable = common.nullable || others.length < alternatives.length;
    const [only] = others;
    if (others.length === 1 && depth < MAX_ALTERNATIVES_DEPTH) {
      const { schema: inner, problem } = resolveSchema(only, root, value);
      const field = fieldOfResolved(mergeSchemas(inner, rest), root, value, depth + 1);
      return { ...field, nullable: nullable || field.nullable, ...(field.kind === "json" ? { problem } : {}) };
    }
    if (others.length > 1) return { ...common, nullable, kind: "branches", branches: branchesOf(others, rest, root) };
  }
  return fieldOfType(schema, common, root, value);
}

/** The alternatives of a schema, unless they only require members. In that case a hint describes them. */
function alternativesOf(schema: SchemaObject): readonly unknown[] | undefined {
  const both: readonly unknown[] = [schema["oneOf"], schema["anyOf"]];
  return both.find(
    (each): each is readonly unknown[] => Array.isArray(each) && each.length > 0 && !each.every(onlyRequiresMembers),
  );
}

const isNullSchema = (schema: unknown) =>
  isJsonObject(schema) && (schema["type"] === "null" || (Object.hasOwn(schema, "const") && schema["const"] === null));

function fieldOfType(schema: SchemaObject, common: FieldCommon, root: unknown, value: unknown): FormField {
  const type = schema["type"] ?? impliedType(schema);
  if (Array.isArray(type)) {
    const types = type.filter((each) => each !== "null");
    const nullable = common.nullable || types.length < type.length;
    const [only] = types;
    if (types.length < 2) return { ...fieldOfType({ ...schema, type: only ?? "null" }, common, root, value), nullable };
    const branches = types.map((each) => ({ title: String(each), schema: { ...schema, type: each } }));
    return { ...common, nullable, kind: "branches", branches };
  }
  switch (type) {
    case "string":
      return { ...common, kind: "text", format: textOf(schema["format"]), multiline: isMultiline(schema) };
    case "number":
    case "integer":
      return { ...common, kind: "number", integer: type === "integer" };
    case "boolean":
      return { ...common, kind: "boolean" };
    case "null":
      return { ...common, kind: "null" };
    case "object":
      return objectField(schema, common);
    case "array":
      return arrayField(schema, common, root, value);
    default:
      return { ...common, kind: "json" };
  }
}

const IMPLIED: readonly (readonly [type: string, keywords: readonly string[]])[] = [
  ["object", ["properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"]],
  ["array", ["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"]],
  ["string", ["minLength", "maxLength", "pattern", "format", "contentMediaType"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

function impliedType(schema: SchemaObject): string | undefined {
  return IMPLIED.find(([, keywords]) => keywords.some((keyword) => schema[keyword] !== undefined))?.[0];
}

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

function commonOf(schema: SchemaObject): FieldCommon {
  return {
    title: textOf(schema["title"]),
    description: textOf(schema["description"]),
    hints: fieldHints(schema),
    nullable: schema["nullable"] === true,
    deprecated: schema["deprecated"] === true,
    schema,
  };
}

/** A text field has several lines if the schema allows more than this number of characters. */
const LONG_TEXT = 200;

function isMultiline(schema: SchemaObject): boolean {
  const { maxLength, format, contentMediaType } = schema;
  if (typeof contentMediaType === "string") return true;
  if (format === "textarea" || format === "multiline" || format === "markdown") return true;
  return (typeof maxLength === "number" && maxLength > LONG_TEXT) || String(schema["default"] ?? "").includes("\n");
}

function objectField(schema: SchemaObject, common: FieldCommon): FormField {
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const demanded = new Set(required);
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const members: FieldMember[] = Object.entries(properties)
    .slice(0, MAX_MEMBERS)
    .map(([name, member]) => ({ name, schema: member, required: demanded.has(name) }));
  // A member that is required but not described can have any value.
  for (const name of required.slice(0, MAX_MEMBERS)) {
    if (typeof name === "string" && !Object.hasOwn(properties, name))
      members.push({ name, schema: true, required: true });
  }
  return { ...common, kind: "object", members, extras: extrasOf(schema, members.length === 0) };
}

function extrasOf(schema: SchemaObject, isOpen: boolean): readonly FieldExtras[] {
  const { patternProperties, additionalProperties } = schema;
  const extras: FieldExtras[] = Object.entries(isJsonObject(patternProperties) ? patternProperties : {}).map(
    ([pattern, each]) => ({ pattern, schema: each }),
  );
  // A schema that names some members but has no `additionalProperties` rarely intends to allow other members, so the
  // form offers none.
  const others = additionalProperties ?? (isOpen && extras.length === 0);
  return others === false ? extras : [...extras, { schema: others }];
}

function arrayField(schema: SchemaObject, common: FieldCommon, root: unknown, value: unknown): FormField {
  const { items, prefixItems, minItems, maxItems } = schema;
  const prefix: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const rest = Array.isArray(items) ? (schema["additionalItems"] ?? true) : (items ?? true);
  if (prefix.length === 0 && isJsonObject(rest)) {
    const resolved = resolveSchema(rest, root, undefined);
    const options = choiceOptions(resolved.schema, root);
    // Checkboxes for a set of constants, unless the list allows duplicates or the value contains other items.
    const isSet = options !== undefined && options.length > 1 && schema["uniqueItems"] !== false;
    if (isSet && (!Array.isArray(value) || isChoiceOf(value, options))) return { ...common, kind: "choices", options };
  }
  return {
    ...common,
    kind: "array",
    prefix,
    ...(rest === false ? {} : { items: rest }),
    minItems: typeof minItems === "number" ? minItems : 0,
    maxItems: typeof maxItems === "number" ? maxItems : Number.POSITIVE_INFINITY,
  };
}

function isChoiceOf(value: readonly unknown[], options: readonly { readonly value: unknown }[]): boolean {
  return value.every(
    (item, index) =>
      options.some((option) => sameJson(option.value, item)) &&
      value.findIndex((other) => sameJson(other, item)) === index,
  );
}
