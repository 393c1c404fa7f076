import { fitsSchema } from "./fits-schema.js";
import { isJsonObject, memberOf } from "./json-members.js";
import { localSchema } from "./local-schema.js";
import { mergeSchemas, type SchemaObject } from "./merge-schemas.js";

/** A schema without `$ref`, `allOf` and conditions, for one value; its members and items are as they were. */
export interface ResolvedSchema {
  readonly schema: SchemaObject;
  /** Why nothing more is known of it: a reference that leads nowhere, in a circle, or elsewhere. */
  readonly problem?: string | undefined;
}

/** Schemas that are put together for one field. Hostile ones would go on for ever. */
const MOST_PARTS = 200;

interface Course {
  readonly root: unknown;
  readonly value: unknown;
  parts: number;
  problem: string | undefined;
}

/** Puts together what a schema says of a value at this level. */
export function resolveSchema(schema: unknown, root: unknown, value: unknown): ResolvedSchema {
  const course: Course = { root, value, parts: 0, problem: undefined };
  const resolved = flatten(schema, course, []);
  return { schema: resolved, problem: course.problem };
}

function flatten(schema: unknown, course: Course, within: readonly unknown[]): SchemaObject {
  if (schema === false) course.problem ??= "The schema allows no value here.";
  if (!isJsonObject(schema)) return {};
  if (within.includes(schema)) {
    course.problem ??= "The schema refers to itself in a circle.";
    return {};
  }
  if (++course.parts > MOST_PARTS) {
    course.problem ??= `The schema is made of more than ${MOST_PARTS} parts.`;
    return {};
  }
  const inside = [...within, schema];
  const { $ref, $dynamicRef, allOf, if: condition, then, else: otherwise, dependentSchemas, ...own } = schema;
  let merged: SchemaObject = {};
  const add = (more: unknown) => {
    merged = mergeSchemas(merged, flatten(more, course, inside));
  };
  for (const reference of [$ref, $dynamicRef]) {
    if (typeof reference !== "string") continue;
    const found = localSchema(reference, course.root);
    if ("problem" in found) course.problem ??= found.problem;
    else add(found.schema);
  }
  if (Array.isArray(allOf)) for (const part of allOf) add(part);
  merged = ownFirst(mergeSchemas(merged, own), own["properties"]);
  if (condition !== undefined) add(fitsSchema(condition, course.value, course.root) ? then : otherwise);
  for (const dependent of dependentsOf(dependentSchemas, schema["dependentRequired"], course.value)) add(dependent);
  return merged;
}

/** The members that a schema names itself come before those of its parts, as its author would list them. */
function ownFirst(merged: SchemaObject, own: unknown): SchemaObject {
  const properties = merged["properties"];
  if (!isJsonObject(own) || !isJsonObject(properties)) return merged;
  const names = new Set([...Object.keys(own), ...Object.keys(properties)]);
  return { ...merged, properties: Object.fromEntries([...names].map((name) => [name, memberOf(properties, name)])) };
}

/** What the presence of members demands. */
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
