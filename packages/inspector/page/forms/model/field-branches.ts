import { fitsSchema, jsonTypeOf } from "./fits-schema.js";
import { type FieldBranch, type FormField, MAX_BRANCHES } from "./form-field.js";
import { isJsonObject, memberOf, sameJson } from "./json-members.js";
import type { SchemaObject } from "./merge-schemas.js";
import { resolveSchema } from "./resolve-schema.js";

/**
 * Combines each alternative with the keywords of `base`, which apply to all alternatives. Omits alternatives beyond
 * `MAX_BRANCHES`.
 */
export function branchesOf(
  alternatives: readonly unknown[],
  base: SchemaObject,
  root: unknown,
): readonly FieldBranch[] {
  const { title: _title, description: _description, default: _default, ...shared } = base;
  return alternatives.slice(0, MAX_BRANCHES).map((alternative, index) => ({
    title: titleOf(alternative, root, index),
    schema: Object.keys(shared).length === 0 ? alternative : { allOf: [shared, alternative] },
  }));
}

function titleOf(alternative: unknown, root: unknown, index: number): string {
  const { schema } = resolveSchema(alternative, root, undefined);
  if (typeof schema["title"] === "string" && schema["title"] !== "") return schema["title"];
  const constants = constantsOf(schema);
  if (constants.length > 0) return constants.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(", ");
  const reference = memberOf(alternative, "$ref");
  const named = typeof reference === "string" ? reference.split("/").at(-1) : undefined;
  if (named !== undefined && named !== "") return named;
  if (Object.hasOwn(schema, "const")) return JSON.stringify(schema["const"]);
  const required = schema["required"];
  if (Array.isArray(required) && required.length > 0) return `with ${required.slice(0, 3).join(", ")}`;
  const type = schema["type"];
  return typeof type === "string" ? type : `shape ${index + 1}`;
}

/** The members that an alternative fixes to one value. They distinguish the alternative from the others. */
function constantsOf(schema: SchemaObject): (readonly [name: string, value: unknown])[] {
  const properties = schema["properties"];
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, member]) => {
    if (!isJsonObject(member)) return [];
    if (Object.hasOwn(member, "const")) return [[name, member["const"]] as const];
    const values = member["enum"];
    return Array.isArray(values) && values.length === 1 ? [[name, values[0] as unknown] as const] : [];
  });
}

/**
 * The branch of a value: the first branch that the value fits, else the most similar branch. Undefined if the value is
 * absent or similar to no branch.
 */
export function branchOfValue(branches: readonly FieldBranch[], value: unknown, root: unknown): number | undefined {
  if (value === undefined) return undefined;
  const fitting = branches.findIndex(({ schema }) => fitsSchema(schema, value, root));
  if (fitting >= 0) return fitting;
  const likeness = branches.map(({ schema }) => similarityOf(resolveSchema(schema, root, value).schema, value));
  const best = Math.max(...likeness);
  return best > 0 ? likeness.indexOf(best) : undefined;
}

function similarityOf(schema: SchemaObject, value: unknown): number {
  const type = schema["type"];
  if (!isJsonObject(value))
    return type === jsonTypeOf(value) || (type === "number" && typeof value === "number") ? 1 : 0;
  if (type !== undefined && type !== "object") return 0;
  const agreed = constantsOf(schema).filter(([name, constant]) => sameJson(memberOf(value, name), constant));
  const properties = schema["properties"];
  const known = isJsonObject(properties) ? Object.keys(value).filter((name) => Object.hasOwn(properties, name)) : [];
  return 1 + agreed.length * 1_000 + known.length;
}

/** True if a field can show a value. If not, the form shows the value as JSON, so that no part of it is discarded. */
export function canShowValue(field: FormField, value: unknown): boolean {
  if (value === undefined || (value === null && field.nullable)) return true;
  switch (field.kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "null":
      return value === null;
    case "object":
      return isJsonObject(value);
    case "array":
    case "choices":
      return Array.isArray(value);
    case "choice":
      return field.options.some((option) => sameJson(option.value, value));
    case "branches":
    case "json":
      return true;
  }
}
