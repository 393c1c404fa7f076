import { isJsonObject, sameJson } from "./json-members.js";

/** A JSON Schema in object form. Boolean schemas are converted to an object. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/**
 * Combines two schemas, so that a value must satisfy both. For keywords without an entry in `JOINS`, such as `title`
 * and `pattern`, `over` wins.
 */
export function mergeSchemas(base: SchemaObject, over: SchemaObject): SchemaObject {
  const merged: Record<string, unknown> = { ...base };
  for (const [keyword, value] of Object.entries(over)) {
    const known = Object.hasOwn(base, keyword) ? base[keyword] : undefined;
    // Assigning `__proto__` would change the prototype. It is skipped, because it is not a keyword.
    if (keyword === "__proto__") continue;
    const join = Object.hasOwn(JOINS, keyword) ? JOINS[keyword] : undefined;
    merged[keyword] = known === undefined || join === undefined ? value : join(known, value);
  }
  return merged;
}

type Join = (left: unknown, right: unknown) => unknown;

const larger: Join = (left, right) =>
  typeof left === "number" && typeof right === "number" ? Math.max(left, right) : right;
const smaller: Join = (left, right) =>
  typeof left === "number" && typeof right === "number" ? Math.min(left, right) : right;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** Treats integer as a kind of number, so that both together give integer. */
const typesOf = (value: unknown) =>
  listOf(value).flatMap((type) => (type === "number" ? ["number", "integer"] : [type]));

const joinTypes: Join = (left, right) => {
  const wanted = typesOf(left);
  const both = typesOf(right).filter((type) => wanted.includes(type));
  const plain = both.includes("number") ? both.filter((type) => type !== "integer") : both;
  // If no type satisfies both, the server contradicts itself, and the form uses the later type.
  return plain.length === 0 ? right : plain.length === 1 ? plain[0] : plain;
};

const joinRequired: Join = (left, right) => [...new Set([...listOf(left), ...listOf(right)])];

const joinEnum: Join = (left, right) => {
  const both = listOf(left).filter((value) => listOf(right).some((other) => sameJson(value, other)));
  return both.length === 0 ? right : both;
};

/** A member defined on both sides must satisfy both schemas. */
const joinProperties: Join = (left, right) => {
  if (!isJsonObject(left) || !isJsonObject(right)) return right;
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return Object.fromEntries(
    names.map((name) => {
      const first = Object.hasOwn(left, name) ? left[name] : undefined;
      const second = Object.hasOwn(right, name) ? right[name] : undefined;
      if (first === undefined || second === undefined || first === second) return [name, second ?? first];
      return [name, { allOf: [first, second] }];
    }),
  );
};

const joinSchema: Join = (left, right) =>
  left === false || right === false ? false : left === true ? right : right === true ? left : { allOf: [left, right] };

const JOINS: Readonly<Record<string, Join>> = {
  type: joinTypes,
  required: joinRequired,
  enum: joinEnum,
  properties: joinProperties,
  patternProperties: joinProperties,
  $defs: joinProperties,
  definitions: joinProperties,
  items: joinSchema,
  additionalProperties: joinSchema,
  minimum: larger,
  exclusiveMinimum: larger,
  minLength: larger,
  minItems: larger,
  minProperties: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  maxProperties: smaller,
};
