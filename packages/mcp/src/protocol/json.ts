/** Any JSON value. */
export type JSONValue = string | number | boolean | null | JSONValue[] | JSONObject;

/** A JSON object. */
export type JSONObject = { [key: string]: JSONValue };

/** A JSON array. */
export type JSONArray = JSONValue[];

/**
 * A JSON Schema document that is an object. Without `$schema` it is JSON Schema 2020-12.
 * Unknown keywords are kept unchanged.
 */
export interface JSONSchemaObject {
  $schema?: string;
  [keyword: string]: unknown;
}

/**
 * The content of a `_meta` member. A key is an optional dotted prefix and `/`, then a name; receivers pass unknown keys
 * on unchanged.
 */
export interface MetaObject {
  [key: string]: unknown;
}
