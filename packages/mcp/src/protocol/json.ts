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

/**
 * Tells whether a value is a JSON object: neither an array nor null. The prototype is not looked at, since all that is
 * asked about comes from `JSON.parse` or from a user's literal.
 */
export function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
