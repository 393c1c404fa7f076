import type { JsonSchemaObject } from "../json-schema.js";

/** Groups of keywords that are compiled together, one bit each. */
export const KIND = {
  definitions: 1,
  reference: 2,
  value: 4,
  scalar: 8,
  array: 16,
  object: 32,
  logic: 64,
  unevaluated: 128,
} as const;

const KEYWORDS: Readonly<Record<keyof typeof KIND, string>> = {
  definitions: "$defs definitions",
  reference: "$ref $dynamicRef",
  value: "type enum const",
  scalar: "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format",
  array: "minItems maxItems items additionalItems prefixItems contains minContains maxContains uniqueItems",
  object:
    "required minProperties maxProperties properties patternProperties additionalProperties propertyNames dependencies dependentSchemas dependentRequired",
  logic: "allOf anyOf oneOf not if then else",
  unevaluated: "unevaluatedProperties unevaluatedItems",
};

const KIND_OF = new Map<string, number>(
  Object.entries(KEYWORDS).flatMap(([kind, names]) =>
    names.split(" ").map((name) => [name, KIND[kind as keyof typeof KIND]] as const),
  ),
);

/**
 * The groups of which a schema has keywords.
 *
 * Most schemas are leaves with one or two keywords, so looking up all sixty would be most of the work of compiling.
 */
export function kindsIn(schema: JsonSchemaObject): number {
  let kinds = 0;
  for (const keyword of Object.keys(schema)) kinds |= KIND_OF.get(keyword) ?? 0;
  return kinds;
}
