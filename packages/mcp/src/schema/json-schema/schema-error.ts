/**
 * The reason why a schema, or a validation with it, was rejected.
 *
 * - `invalid_schema`: a keyword has a value that its dialect does not allow.
 * - `dialect_unsupported`: `$schema` names a dialect other than 2020-12 and draft-07.
 * - `unresolved_ref`: a reference has no target, or points to a document that was not passed. Documents are never fetched.
 * - `unsupported_pattern`: a regular expression cannot be matched in linear time.
 * - `too_complex`: a limit on schema size or validation cost was reached.
 * - `conversion_unavailable`: a Standard Schema cannot be converted to JSON Schema, and no adapter was passed.
 * - `conversion_failed`: the schema library threw, or returned something other than a JSON Schema.
 */
export type SchemaErrorCode =
  | "invalid_schema"
  | "dialect_unsupported"
  | "unresolved_ref"
  | "unsupported_pattern"
  | "too_complex"
  | "conversion_unavailable"
  | "conversion_failed";

/** Thrown if a schema cannot be used, or if validating with it exceeds a limit. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
  /** The reason, for programs. */
  readonly code: SchemaErrorCode;
  /** JSON pointer to the place in the schema. Empty for the schema as a whole. */
  readonly path: string;

  constructor(code: SchemaErrorCode, message: string, options: { path?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.path = options.path ?? "";
  }
}
