/**
 * Why a schema, or a validation by it, was refused.
 *
 * - `invalid_schema`: a keyword has a shape that its dialect does not allow.
 * - `dialect_unsupported`: `$schema` names a dialect other than 2020-12 and draft-07.
 * - `unresolved_ref`: a `$ref` leads outside the documents at hand; nothing is ever fetched.
 * - `unsupported_pattern`: a regular expression that cannot be run in linear time.
 * - `too_complex`: a limit on schema size or validation cost was reached.
 * - `conversion_unavailable`: a Standard Schema that cannot say its JSON Schema, and no adapter was given.
 * - `conversion_failed`: the schema library refused to convert, or gave something that is no JSON Schema.
 */
export type SchemaErrorCode =
  | "invalid_schema"
  | "dialect_unsupported"
  | "unresolved_ref"
  | "unsupported_pattern"
  | "too_complex"
  | "conversion_unavailable"
  | "conversion_failed";

/** Thrown when a schema cannot be used, or when a validation by it would cost too much. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
  readonly code: SchemaErrorCode;
  /** JSON pointer of the place in the schema; empty for the schema as a whole. */
  readonly path: string;

  constructor(code: SchemaErrorCode, message: string, options: { path?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.path = options.path ?? "";
  }
}
