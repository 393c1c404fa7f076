/** Any value that JSON can carry. */
export type JSONValue = string | number | boolean | null | JSONValue[] | JSONObject;

/** A JSON object. */
export type JSONObject = { [key: string]: JSONValue };

/** A JSON array. */
export type JSONArray = JSONValue[];

/**
 * A JSON Schema document that is an object. Without `$schema` it is JSON Schema 2020-12.
 * Unknown keywords are kept as they are.
 */
export interface JSONSchemaObject {
  $schema?: string;
  [keyword: string]: unknown;
}

/**
 * The content of a `_meta` member. Keys are an optional dotted prefix with `/` and a name; what a receiver does not know it
 * passes on unchanged.
 */
export interface MetaObject {
  [key: string]: unknown;
}
