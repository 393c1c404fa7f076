import { fitsSchema } from "./fits-schema.js";
import { isJsonObject, memberOf } from "./json-members.js";
import { localSchema } from "./local-schema.js";
import { mergeSchemas, type SchemaObject } from "./merge-schemas.js";

/** A schema with `$ref`, `allOf` and conditions resolved for one value. Members and items are unresolved. */
export interface ResolvedSchema {
  readonly schema: SchemaObject;
  /**
   * The reason why the schema is incomplete: a reference that is missing, circular or external, too many parts, or a
   * schema that allows no value.
   */
  readonly problem?: string | undefined;
}

/**
 * Maximum number of schemas combined for one field. Further ones are ignored, because a hostile schema could combine
 * schemas forever.
 */
const MAX_PARTS = 200;

interface Resolution {
  readonly root: unknown;
  readonly value: unknown;
  parts: number;
  problem: string | undefined;
}

/** Resolves a schema for a value, one level deep. */
export function resolveSchema(schema: unknown, root: unknown, value: unknown): ResolvedSchema {
  const resolution: Resolution = { root, value, parts: 0, problem: undefined };
  const resolved = flatten(schema, resolution, []);
  return { schema: resolved, problem: resolution.problem };
}

function flatten(schema: unknown, resolution: Resolution, within: readonly unknown[]): SchemaObject {
  if (schema === false) resolution.problem ??= "The schema allows no value here.";
  if (!isJsonObject(schema)) return {};
  if (within.includes(schema)) {
    resolution.problem ??= "The schema refers to itself.";
    return {};
  }
  if (++resolution.parts > MAX_PARTS) {
    resolution.problem ??= `The schema combines more than ${MAX_PARTS} parts.`;
    return {};
  }
  const inside = [...within, schema];
  const { $ref, $dynamicRef, allOf, if: condition, then, else: otherwise, dependentSchemas, ...own } = schema;
  let merged: SchemaObject = {};
  const add = (more: unknown) => {
    merged = mergeSchemas(merged, flatten(more, resolution, inside));
  };
  for (const reference of [$ref, $dynamicRef]) {
    if (typeof reference !== "string") continue;
    const found = localSchema(reference, resolution.root);
    if ("problem" in found) resolution.problem ??= found.problem;
    else add(found.schema);
  }
  if (Array.isArray(allOf)) for (const part of allOf) add(part);
  merged = ownFirst(mergeSchemas(merged, own), own["properties"]);
  if (condition !== undefined) add(fitsSchema(condition, resolution.value, resolution.root) ? then : otherwise);
  for (const dependent of dependentsOf(dependentSchemas, schema["dependentRequired"], resolution.value)) add(dependent);
  return merged;
}

/** Moves the members that a schema names itself before those of its parts. */
function ownFirst(merged: SchemaObject, own: unknown): SchemaObject {
  const properties = merged["properties"];
  if (!isJsonObject(own) || !isJsonObject(properties)) return merged;
  const names = new Set([...Object.keys(own), ...Object.keys(properties)]);
  return { ...merged, properties: Object.fromEntries([...names].map((name) => [name, memberOf(properties, name)])) };
}

/** The schemas that apply because the value has certain members. */
function dependentsOf(schemas: unknown, required: unknown, value: unknown): unknown[] {
  const found: unknown[] = [];
  for (const [name, schema] of Object.entries(isJsonObject(schemas) ? schemas : {})) {
    if (memberOf(value, name) !== undefined) found.push(schema);
  }
  for (const [name, names] of Object.entries(isJsonObject(required) ? required : {})) {
    if (memberOf(value, name) !== undefined && Array.isArray(names)) found.push({ required: names });
  }
  return found;
}
