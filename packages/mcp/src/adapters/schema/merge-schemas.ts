import { canonicalJson } from "../../encoding/canonical-json.js";
import { isObject } from "../../jsonrpc/message.js";
import { splitPointer } from "../../schema/json-schema/json-pointer.js";

/** A schema that is an object, not a boolean. */
export type SchemaNode = Readonly<Record<string, unknown>>;

const ANNOTATIONS = ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"];
/** Keywords that hold definitions or identify a schema, without constraining values. */
export const CONTAINERS: readonly string[] = ["$schema", "$id", "$defs", "definitions", "$anchor", "$vocabulary"];
const UPPER_BOUNDS = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
const LOWER_BOUNDS = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
/**
 * Maximum number of rounds in which `$ref` and `allOf` of one schema are resolved. Beyond that, the schema is not
 * merged.
 */
const MAX_REFERENCES = 32;

/** Resolves a local `$ref` within `root`. Undefined if `ref` is not local, or if its target does not exist. */
export function findReference(root: SchemaNode, ref: unknown): unknown {
  if (typeof ref !== "string" || !(ref === "#" || ref.startsWith("#/"))) return undefined;
  let found: unknown = root;
  for (const part of splitPointer(decoded(ref.slice(1)))) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, part)) return undefined;
    found = Reflect.get(found, part);
  }
  return found;
}

function decoded(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

/**
 * Resolves `$ref` and `allOf` into one equivalent schema. Undefined if a reference is unknown or recursive, or if the
 * schemas cannot be merged. `within` holds the references already followed. This function adds each reference that it
 * follows to `within`.
 */
export function plainSchema(root: SchemaNode, schema: SchemaNode, within: Set<string>): SchemaNode | undefined {
  let node: SchemaNode | undefined = schema;
  for (let steps = 0; node !== undefined && steps < MAX_REFERENCES; steps++) {
    const { $ref, allOf, ...rest }: Record<string, unknown> = node;
    if ($ref === undefined && allOf === undefined) return node;
    node = rest;
    if ($ref !== undefined) {
      const target = findReference(root, $ref);
      if (target === undefined || within.has(String($ref))) return undefined;
      within.add(String($ref));
      node = mergeSchemas(target, rest);
    }
    for (const part of Array.isArray(allOf) ? allOf : []) {
      node = node === undefined ? undefined : mergeSchemas(part, node);
    }
  }
  return undefined;
}

/**
 * Merges two schemas into one that accepts what both accept, with the annotations of the second. Undefined if a single
 * schema cannot express that.
 */
export function mergeSchemas(one: unknown, other: unknown): SchemaNode | undefined {
  if (one === true) return isObject(other) ? other : undefined;
  if (!isObject(one) || !isObject(other) || areClosedToEachOther(one, other)) return undefined;
  const merged: Record<string, unknown> = { ...one };
  for (const [keyword, value] of Object.entries(other)) {
    const before = merged[keyword];
    if (before === undefined || ANNOTATIONS.includes(keyword) || CONTAINERS.includes(keyword)) merged[keyword] = value;
    else {
      const both = mergeKeyword(keyword, before, value);
      if (both === undefined) return undefined;
      merged[keyword] = both;
    }
  }
  return merged;
}

/**
 * True if one schema restricts additional properties, and the other declares properties that the first does not
 * declare.
 */
function areClosedToEachOther(one: SchemaNode, other: SchemaNode): boolean {
  const closes = (schema: SchemaNode, against: SchemaNode) =>
    schema["additionalProperties"] !== undefined &&
    schema["additionalProperties"] !== true &&
    Object.keys(Object(against["properties"])).some((name) => !Object.hasOwn(Object(schema["properties"]), name));
  return closes(one, other) || closes(other, one);
}

function mergeKeyword(keyword: string, one: unknown, other: unknown): unknown {
  if (keyword === "properties" && isObject(one) && isObject(other)) {
    const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
    return Object.fromEntries(names.map((name) => [name, mergedProperty(one, other, name)]));
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    if (keyword === "required") return [...new Set([...one, ...other])];
    if (keyword === "enum")
      return one.filter((value) => other.some((same) => canonicalJson(same) === canonicalJson(value)));
    if (keyword === "allOf") return [...one, ...other];
  }
  if (keyword === "type") {
    const types = [one].flat().filter((type) => [other].flat().includes(type));
    return types.length === 0 ? undefined : types;
  }
  if (typeof one === "number" && typeof other === "number") {
    if (UPPER_BOUNDS.includes(keyword)) return Math.min(one, other);
    if (LOWER_BOUNDS.includes(keyword)) return Math.max(one, other);
  }
  return canonicalJson(one) === canonicalJson(other) ? one : undefined;
}

function mergedProperty(one: SchemaNode, other: SchemaNode, name: string): unknown {
  if (!Object.hasOwn(one, name)) return other[name];
  return Object.hasOwn(other, name) ? { allOf: [one[name], other[name]] } : one[name];
}
