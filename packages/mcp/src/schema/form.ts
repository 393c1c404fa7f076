import { isSchemaObject } from "./json-schema/schema-resources.js";
import { compileSnapshot } from "./json-schema/validate.js";
import type { JsonSchemaObject } from "./json-schema.js";

const COMMON = ["type", "title", "description", "default"];
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  string: [...COMMON, "minLength", "maxLength", "format", "enum", "enumNames", "oneOf"],
  number: [...COMMON, "minimum", "maximum"],
  integer: [...COMMON, "minimum", "maximum"],
  boolean: COMMON,
  array: [...COMMON, "items", "minItems", "maxItems"],
};
const FORMATS = ["email", "uri", "date", "date-time"];

/**
 * Lists the reasons why a JSON Schema is not a valid elicitation form; empty when it is one.
 *
 * A form is a flat object whose properties are strings, numbers, booleans, choices or lists of choices. Keywords
 * without effect on a form (`$schema`, `additionalProperties`) are allowed on the object itself.
 *
 * Spec: Elicitation, "Requested Schema",
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
 */
export function checkForm(schema: unknown): string[] {
  if (!isSchemaObject(schema)) return ["must be an object schema"];
  if (schema.type !== "object") return ['must have "type": "object"'];
  if (!isSchemaObject(schema.properties)) return ['must have "properties"'];
  const { properties } = schema;
  const problems = Object.entries(properties).flatMap(([name, property]) =>
    checkProperty(property).map((problem) => `property ${JSON.stringify(name)} ${problem}`),
  );
  const required: unknown = schema.required ?? [];
  if (!Array.isArray(required)) problems.push('"required" must be a list of property names');
  else {
    for (const name of required) {
      if (typeof name === "string" && Object.hasOwn(properties, name)) continue;
      problems.push(`"required" names ${JSON.stringify(name)}, which is not a property`);
    }
  }
  for (const keyword of ["allOf", "anyOf", "oneOf", "not", "if", "$ref", "patternProperties"]) {
    if (schema[keyword] !== undefined) problems.push(`must be flat, without "${keyword}"`);
  }
  return problems.length > 0 ? problems : checkKeywords(schema);
}

/** The compiler finds what the shape checks do not, such as a keyword with a value of the wrong type. */
function checkKeywords(schema: JsonSchemaObject): string[] {
  try {
    compileSnapshot(schema, {});
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** Lists the reasons why one property cannot be part of a form. */
function checkProperty(property: unknown): string[] {
  if (!isSchemaObject(property)) return ["must be an object"];
  const { type } = property;
  const allowed = typeof type === "string" && Object.hasOwn(ALLOWED, type) ? ALLOWED[type] : undefined;
  if (allowed === undefined) return [`must be a string, number, integer, boolean or list of choices${got(type)}`];
  const problems = Object.keys(property)
    .filter((keyword) => !allowed.includes(keyword))
    .map((keyword) => `must not have "${keyword}"`);
  if (type === "array") problems.push(...checkList(property));
  if (type === "string") problems.push(...checkString(property));
  return problems;
}

function got(type: unknown): string {
  return type === undefined ? "" : `, not ${JSON.stringify(type)}`;
}

function checkString(property: JsonSchemaObject): string[] {
  const problems: string[] = [];
  const { format, oneOf } = property;
  if (format !== undefined && !(typeof format === "string" && FORMATS.includes(format))) {
    problems.push(`has the format ${JSON.stringify(format)}; forms support only ${FORMATS.join(", ")}`);
  }
  if (property.enum !== undefined && !isStrings(property.enum)) problems.push('must have strings in "enum"');
  if (oneOf !== undefined && !isTitledChoices(oneOf)) problems.push('must have { const, title } items in "oneOf"');
  return problems;
}

function checkList(property: JsonSchemaObject): string[] {
  const { items } = property;
  if (isSchemaObject(items)) {
    if (items.type === "string" && isStrings(items.enum)) return [];
    if (isTitledChoices(items.anyOf)) return [];
  }
  return ['must list its choices: "items" with { type: "string", enum } or { anyOf: [{ const, title }] }'];
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
}

function isTitledChoices(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every(
    (item) => isSchemaObject(item) && typeof item.const === "string" && typeof item.title === "string",
  );
}

/** Returns a copy of an answer with the form's defaults for the properties that it leaves out. */
export function applyDefaults(
  schema: JsonSchemaObject,
  content: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const filled: [string, unknown][] = Object.entries(content);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (Object.hasOwn(content, name) || !isSchemaObject(property) || property.default === undefined) continue;
    filled.push([name, property.default]);
  }
  // fromEntries defines members, so "__proto__" stays an ordinary member.
  return Object.fromEntries(filled);
}
