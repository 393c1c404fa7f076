import { type CompiledSchema, compile } from "./compile.js";
import type { JsonSchema } from "./json-schema.js";
import type { Formats } from "./schema-builder.js";
import { SchemaError } from "./schema-error.js";
import { indexResources, isSchema } from "./schema-resources.js";
import { snapshot } from "./snapshot.js";
import { type Budget, type SchemaIssue, startValidation, tooComplex, type Validation } from "./validation.js";

/** Limits on the size of a schema and the work of a validation. The error names the limit that was reached. */
export interface SchemaLimits {
  /**
   * Maximum number of steps of one validation, about one per subschema applied to a value. Default: 500,000, which take
   * less than 50 ms. The limit is a number of steps instead of a time, so that the same value always has the same
   * result.
   */
  readonly steps?: number;
  /** Maximum nesting of `$ref`s in one validation. Default: 400, which fits the call stack of every runtime. */
  readonly depth?: number;
  /**
   * Maximum number of JSON values (objects, lists, strings, numbers) in one schema document. Default: 10,000, three
   * times the schema of this protocol.
   */
  readonly schemaNodes?: number;
  /**
   * Maximum nesting of one schema document. Default: 256, far more than handwritten schemas need and within the call
   * stack of every runtime.
   */
  readonly schemaDepth?: number;
  /**
   * Maximum number of issues reported for one value. Default: 10, enough to correct the value and few enough to read.
   */
  readonly issues?: number;
}

/** Options for compiling a JSON Schema. */
export interface CompileOptions {
  /** Documents, by URI, that `$ref` and `$dynamicRef` may refer to. Documents are never fetched. Default: none. */
  readonly schemas?: Readonly<Record<string, unknown>> | undefined;
  /** Checks for `format`, by format name. Default: none, so that `format` is only an annotation, as in JSON Schema. */
  readonly formats?: Formats | undefined;
  /** Limits on the schema and its validations. Each has a default. */
  readonly limits?: SchemaLimits | undefined;
}

/** The result of validating one value. */
export type ValidationResult =
  | { readonly valid: true }
  | { readonly valid: false; readonly errors: readonly SchemaIssue[] };

/** A compiled schema. */
export interface Validator {
  /** Validates a JSON value. Throws `SchemaError` with code `too_complex` if validation exceeds a limit. */
  validate(value: unknown): ValidationResult;
}

const VALID: ValidationResult = Object.freeze({ valid: true });

/**
 * Compiles a JSON Schema (2020-12 by default, draft-07 if `$schema` names it) for many validations.
 *
 * Generates no code and fetches nothing. Throws `SchemaError` if the schema is malformed, too large, in another
 * dialect, or refers to a document that is not in `schemas`.
 */
export function compileValidator(schema: unknown, options: CompileOptions = {}): Validator {
  return compileSnapshot(snapshot(schema, schemaSize(options.limits)), options);
}

/** The size limits, with their defaults. */
export function schemaSize({ schemaNodes = 10_000, schemaDepth = 256 }: SchemaLimits = {}): {
  schemaNodes: number;
  schemaDepth: number;
} {
  return { schemaNodes, schemaDepth };
}

/** Compiles a schema that is already a snapshot. Otherwise like `compileValidator`. */
export function compileSnapshot(schema: unknown, options: CompileOptions): Validator {
  if (!isSchema(schema)) throw new SchemaError("invalid_schema", "A JSON Schema must be an object or a boolean.");
  const compiled = compileAll(schema, options);
  const { steps = 500_000, depth = 400, issues = 10 } = options.limits ?? {};
  const budget: Budget = { steps, depth, issues };
  return { validate: (value) => validate(compiled, budget, value) };
}

function compileAll(schema: JsonSchema, options: CompileOptions): CompiledSchema {
  const resources = indexResources(schema, options.schemas ?? {});
  return compile(resources.main, resources, options.formats);
}

function validate(compiled: CompiledSchema, budget: Budget, value: unknown): ValidationResult {
  const run = startValidation(budget, compiled.scope);
  try {
    if (compiled.check(value, run, undefined)) return VALID;
  } catch (error) {
    if (error instanceof RangeError) throw tooComplex("overflows the call stack");
    throw error;
  }
  return { valid: false, errors: explain(compiled, budget, value) };
}

/**
 * Validates a second time to collect issues, so that validating a matching value, the common case, creates no messages.
 */
function explain(compiled: CompiledSchema, budget: Budget, value: unknown): readonly SchemaIssue[] {
  const run: Validation = { ...startValidation(budget, compiled.scope), issues: [] };
  const { issues = [] } = run;
  try {
    compiled.check(value, run, undefined);
  } catch (error) {
    // The value is known not to match. If this pass exceeds a limit, the issues found so far are enough.
    if (!(error instanceof SchemaError || error instanceof RangeError)) throw error;
  }
  return issues.length > 0 ? issues : [{ path: "", keyword: "", message: "does not match the schema" }];
}
