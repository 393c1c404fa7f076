/** Any value that JSON text can carry. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The names that the `type` keyword may hold. */
export type JsonSchemaType = "null" | "boolean" | "integer" | "number" | "string" | "array" | "object";

/**
 * A JSON Schema written as an object.
 *
 * Lists only the keywords that type inference reads. All others are kept unchanged and checked when the schema is
 * compiled.
 */
export interface JsonSchemaObject {
  readonly $schema?: string;
  readonly $id?: string;
  /** Any string, because a schema imported from a JSON file has lost its literal types. */
  readonly type?: JsonSchemaType | (string & {}) | readonly (JsonSchemaType | (string & {}))[];
  readonly properties?: { readonly [name: string]: unknown };
  readonly required?: readonly string[];
  readonly items?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly [keyword: string]: unknown;
}

/** Keywords whose values are data, whatever they look like. */
export const DATA_KEYWORDS: readonly string[] = ["const", "enum", "default", "examples"];

/** A JSON Schema: an object of keywords, `true` (everything matches) or `false` (nothing does). */
export type JsonSchema = JsonSchemaObject | boolean;
