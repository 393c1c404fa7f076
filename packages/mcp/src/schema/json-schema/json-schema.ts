/** Any value that JSON can represent. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The names that the `type` keyword accepts. */
export type JsonSchemaType = "null" | "boolean" | "integer" | "number" | "string" | "array" | "object";

/**
 * A JSON Schema written as an object.
 *
 * Lists only the keywords that type inference reads. All other keywords are accepted unchanged and checked when the
 * schema is compiled.
 */
export interface JsonSchemaObject {
  /** The URI of the dialect. Default: JSON Schema 2020-12. Draft-07 is also supported. */
  readonly $schema?: string;
  /** The URI that identifies the schema, and the base of its relative references. */
  readonly $id?: string;
  /**
   * The allowed JSON types. Accepts any string, because TypeScript infers `string` for the types in an imported JSON
   * file.
   */
  readonly type?: JsonSchemaType | (string & {}) | readonly (JsonSchemaType | (string & {}))[];
  /** The schemas of the properties of an object, by name. */
  readonly properties?: { readonly [name: string]: unknown };
  /** The names of the properties that an object must have. */
  readonly required?: readonly string[];
  /** The schema of the items of an array. */
  readonly items?: unknown;
  /** The allowed values. */
  readonly enum?: readonly unknown[];
  /** The only allowed value. */
  readonly const?: unknown;
  /** Any other keyword. */
  readonly [keyword: string]: unknown;
}

/** Keywords whose values are data, even if they look like schemas. */
export const DATA_KEYWORDS: readonly string[] = ["const", "enum", "default", "examples"];

/** A JSON Schema: an object of keywords, `true` (accepts every value) or `false` (accepts none). */
export type JsonSchema = JsonSchemaObject | boolean;
