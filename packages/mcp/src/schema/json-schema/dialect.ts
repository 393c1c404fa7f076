import { SchemaError } from "../schema-error.js";

/** The dialect of a schema resource. */
export type Dialect = "2020-12" | "draft-07";

/**
 * Finds the dialect that `$schema` names.
 *
 * A schema without `$schema` has the dialect of its parent resource; for a whole document that is 2020-12.
 * Spec: Overview, "JSON Schema Usage", https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
 */
export function dialectOf($schema: unknown, around: Dialect, path: string): Dialect {
  if ($schema === undefined) return around;
  if (typeof $schema !== "string") throw new SchemaError("invalid_schema", "$schema must be a string.", { path });
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test($schema)) return "2020-12";
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test($schema)) return "draft-07";
  throw new SchemaError(
    "dialect_unsupported",
    `JSON Schema dialect not supported: "${$schema}". Use 2020-12 (the default when $schema is absent) or draft-07.`,
    { path },
  );
}

/** The form in which a keyword holds subschemas: one schema or a list, or schemas by name. */
const SUBSCHEMAS: ReadonlyMap<string, "schemas" | "map"> = new Map([
  ...[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
  ].map((keyword) => [keyword, "schemas"] as const),
  ...["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"].map(
    (keyword) => [keyword, "map"] as const,
  ),
]);

/** How a keyword holds subschemas; undefined for a keyword that holds none. */
export function subschemasOf(keyword: string): "schemas" | "map" | undefined {
  return SUBSCHEMAS.get(keyword);
}
