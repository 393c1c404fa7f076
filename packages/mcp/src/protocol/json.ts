/** Any JSON value. */
export type JSONValue = string | number | boolean | null | JSONValue[] | JSONObject;

/** A JSON object. */
export type JSONObject = { [key: string]: JSONValue };

/** A JSON array. */
export type JSONArray = JSONValue[];

/**
 * A JSON Schema document that is an object. Without `$schema` it is JSON Schema 2020-12. The library preserves unknown
 * keywords.
 */
export interface JSONSchemaObject {
  /** The URI of the schema's dialect. Default: JSON Schema 2020-12. */
  $schema?: string;
  [keyword: string]: unknown;
}

/**
 * The content of a `_meta` member. A key consists of an optional dotted prefix with `/`, then a name. Receivers pass
 * unknown keys on unchanged.
 */
export interface MetaObject {
  [key: string]: unknown;
}
