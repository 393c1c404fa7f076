import { isJsonObject, memberOf, sameJson } from "./json-members.js";
import { localSchema } from "./local-schema.js";

/** Maximum number of schemas that one check visits. Beyond it, every value counts as fitting. */
const MAX_SCHEMAS = 2_000;

interface FitCheck {
  readonly root: unknown;
  schemas: number;
}

/**
 * True if a value fits a schema, as far as a form needs to know to choose a branch and to follow conditions.
 *
 * Ignores `pattern` and `format`. Regular expressions from servers are never run, because they may never finish. The
 * server validates the value anyway.
 */
export function fitsSchema(schema: unknown, value: unknown, root: unknown): boolean {
  return fits(schema, value, { root, schemas: 0 });
}

function fits(schema: unknown, value: unknown, check: FitCheck): boolean {
  if (schema === false) return false;
  if (!isJsonObject(schema) || ++check.schemas > MAX_SCHEMAS) return true;
  return (
    fitsReference(schema, value, check) &&
    fitsScalar(schema, value) &&
    fitsCombination(schema, value, check) &&
    fitsObject(schema, value, check) &&
    fitsArray(schema, value, check)
  );
}

function fitsReference(schema: Readonly<Record<string, unknown>>, value: unknown, check: FitCheck): boolean {
  const reference = schema["$ref"];
  if (typeof reference !== "string") return true;
  const found = localSchema(reference, check.root);
  return "problem" in found || fits(found.schema, value, check);
}

/** The JSON Schema type of a value. Whole numbers are `integer`. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function isOfType(value: unknown, type: unknown): boolean {
  const is = jsonTypeOf(value);
  return is === type || (is === "integer" && type === "number");
}

function fitsScalar(schema: Readonly<Record<string, unknown>>, value: unknown): boolean {
  const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength } = schema;
  if (typeof type === "string" && !isOfType(value, type)) return false;
  if (Array.isArray(type) && !type.some((each) => isOfType(value, each))) return false;
  if (Object.hasOwn(schema, "const") && !sameJson(schema["const"], value)) return false;
  if (Array.isArray(schema["enum"]) && !schema["enum"].some((each) => sameJson(each, value))) return false;
  if (typeof value === "number") {
    if (typeof minimum === "number" && value < minimum) return false;
    if (typeof maximum === "number" && value > maximum) return false;
    if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) return false;
    if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) return false;
  }
  if (typeof value === "string") {
    if (typeof minLength === "number" && value.length < minLength) return false;
    if (typeof maxLength === "number" && value.length > maxLength) return false;
  }
  return true;
}

function fitsCombination(schema: Readonly<Record<string, unknown>>, value: unknown, check: FitCheck): boolean {
  const { allOf, anyOf, oneOf, not } = schema;
  const one = (each: unknown) => fits(each, value, check);
  if (Array.isArray(allOf) && !allOf.every(one)) return false;
  if (Array.isArray(anyOf) && !anyOf.some(one)) return false;
  if (Array.isArray(oneOf) && !oneOf.some(one)) return false;
  if (not !== undefined && one(not)) return false;
  if (schema["if"] === undefined) return true;
  return one(one(schema["if"]) ? schema["then"] : schema["else"]);
}

function fitsObject(schema: Readonly<Record<string, unknown>>, value: unknown, check: FitCheck): boolean {
  if (!isJsonObject(value)) return true;
  const { properties, required, additionalProperties, patternProperties } = schema;
  if (Array.isArray(required) && !required.every((name) => typeof name !== "string" || Object.hasOwn(value, name))) {
    return false;
  }
  const known = isJsonObject(properties) ? properties : {};
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(known, name)) {
      if (!fits(known[name], memberOf(value, name), check)) return false;
    } else if (patternProperties === undefined && additionalProperties !== undefined) {
      if (!fits(additionalProperties, memberOf(value, name), check)) return false;
    }
  }
  return true;
}

function fitsArray(schema: Readonly<Record<string, unknown>>, value: unknown, check: FitCheck): boolean {
  if (!Array.isArray(value)) return true;
  const { items, prefixItems, minItems, maxItems } = schema;
  if (typeof minItems === "number" && value.length < minItems) return false;
  if (typeof maxItems === "number" && value.length > maxItems) return false;
  const prefix: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const rest = Array.isArray(items) ? schema["additionalItems"] : items;
  return value.every((item, index) => fits(index < prefix.length ? prefix[index] : rest, item, check));
}
