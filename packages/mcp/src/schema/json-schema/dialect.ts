import { SchemaError } from "../schema-error.js";

/** The dialect of a schema resource. */
export interface Dialect {
  readonly draft: "2020-12" | "draft-07";
  /** False if a custom meta-schema omits the validation vocabulary; `type`, `minimum` … are then only annotations. */
  readonly validates: boolean;
}

export const DRAFT_2020_12: Dialect = { draft: "2020-12", validates: true };
const DRAFT_07: Dialect = { draft: "draft-07", validates: true };

const VOCABULARY = "https://json-schema.org/draft/2020-12/vocab/";
const KNOWN_VOCABULARIES = new Set(
  ["core", "applicator", "unevaluated", "validation", "meta-data", "format-annotation", "content"].map(
    (name) => VOCABULARY + name,
  ),
);

/**
 * Finds the dialect that `$schema` names; `metaSchema` looks up the documents that the caller passed.
 *
 * A schema without `$schema` has the dialect of its parent resource; for a whole document that is 2020-12.
 * Spec: Overview, "JSON Schema Usage", https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
 */
export function dialectOf(
  $schema: unknown,
  around: Dialect,
  path: string,
  metaSchema: (uri: string) => unknown,
): Dialect {
  if ($schema === undefined) return around;
  if (typeof $schema !== "string") throw new SchemaError("invalid_schema", "$schema must be a string.", { path });
  const uri = $schema.replace(/#$/, "");
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema$/.test(uri)) return DRAFT_2020_12;
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema$/.test(uri)) return DRAFT_07;
  const custom = customDialect(metaSchema(uri));
  if (custom !== undefined) return custom;
  throw new SchemaError(
    "dialect_unsupported",
    `JSON Schema dialect not supported: "${$schema}". Use 2020-12 (the default when $schema is absent) or draft-07.`,
    { path },
  );
}

function customDialect(metaSchema: unknown): Dialect | undefined {
  if (typeof metaSchema !== "object" || metaSchema === null || !("$vocabulary" in metaSchema)) return undefined;
  const vocabulary = metaSchema.$vocabulary;
  if (typeof vocabulary !== "object" || vocabulary === null) return undefined;
  const entries = Object.entries(vocabulary);
  if (entries.some(([uri, needed]) => needed === true && !KNOWN_VOCABULARIES.has(uri))) return undefined;
  return { draft: "2020-12", validates: entries.some(([uri]) => uri === `${VOCABULARY}validation`) };
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
