import { type Compiled, compile } from "./compile.js";
import type { JsonSchema } from "./json-schema.js";
import type { Formats } from "./schema-builder.js";
import { SchemaError } from "./schema-error.js";
import { indexResources, isSchema } from "./schema-resources.js";
import { snapshot } from "./snapshot.js";
import { type Budget, type SchemaIssue, startValidation, tooComplex, type Validation } from "./validation.js";

/** How large a schema may be and how much work a validation may do; the error names the limit that was reached. */
export interface SchemaLimits {
  /**
   * Steps of one validation, about one per subschema applied to a value: 500,000, which takes less than 50 ms.
   * Steps instead of time, so that the same value always has the same result.
   */
  readonly steps?: number;
  /** Nested `$ref`s of one validation: 400, which fits the call stack of every runtime. */
  readonly depth?: number;
  /** Values (objects, lists, strings, numbers …) in one schema document: 10,000, three times the schema of this protocol. */
  readonly schemaNodes?: number;
  /** Nesting of one schema document: 256, far beyond handwritten schemas and within the call stack of every runtime. */
  readonly schemaDepth?: number;
  /** Issues reported for one value: 10, enough to correct it and few enough to read. */
  readonly issues?: number;
}

/** How a JSON Schema is compiled. */
export interface CompileOptions {
  /** Documents by URI that `$ref` and `$schema` may refer to; nothing is ever fetched. */
  readonly schemas?: Readonly<Record<string, unknown>> | undefined;
  /** Checks for `format`; without it, `format` is an annotation, which is JSON Schema's default. */
  readonly formats?: Formats | undefined;
  readonly limits?: SchemaLimits | undefined;
}

/** The result of validating one value. */
export type ValidationResult =
  | { readonly valid: true }
  | { readonly valid: false; readonly errors: readonly SchemaIssue[] };

/** A compiled schema. */
export interface Validator {
  /** Validates a JSON value; throws `SchemaError` with code `too_complex` when that exceeds a limit. */
  validate(value: unknown): ValidationResult;
}

const VALID: ValidationResult = Object.freeze({ valid: true });

/**
 * Compiles a JSON Schema (2020-12 by default, draft-07 if `$schema` says so) once, for many validations.
 *
 * Generates no code and fetches nothing. Throws `SchemaError` for a schema that is malformed, too large, in another
 * dialect, or that refers to documents other than `schemas`.
 */
export function compileValidator(schema: unknown, options: CompileOptions = {}): Validator {
  return compileSnapshot(snapshot(schema, schemaSize(options.limits)), options);
}

export function schemaSize({ schemaNodes = 10_000, schemaDepth = 256 }: SchemaLimits = {}): {
  schemaNodes: number;
  schemaDepth: number;
} {
  return { schemaNodes, schemaDepth };
}

/** `compileValidator` for a schema that is already a snapshot. */
export function compileSnapshot(schema: unknown, options: CompileOptions): Validator {
  if (!isSchema(schema)) throw new SchemaError("invalid_schema", "A JSON Schema must be an object or a boolean.");
  const compiled = compileAll(schema, options);
  const { steps = 500_000, depth = 400, issues = 10 } = options.limits ?? {};
  const budget: Budget = { steps, depth, issues };
  return { validate: (value) => validate(compiled, budget, value) };
}

function compileAll(schema: JsonSchema, options: CompileOptions): Compiled {
  const resources = indexResources(schema, options.schemas ?? {});
  return compile(resources.main, resources, options.formats);
}

function validate(compiled: Compiled, budget: Budget, value: unknown): ValidationResult {
  const run = startValidation(budget, compiled.scope);
  try {
    if (compiled.check(value, run, undefined)) return VALID;
  } catch (error) {
    if (error instanceof RangeError) throw tooComplex("overflows the call stack");
    throw error;
  }
  return { valid: false, errors: explain(compiled, budget, value) };
}

/** Validates a second time to collect issues, so that matching values, the common case, never pay for messages. */
function explain(compiled: Compiled, budget: Budget, value: unknown): readonly SchemaIssue[] {
  const run: Validation = { ...startValidation(budget, compiled.scope), issues: [] };
  const { issues = [] } = run;
  try {
    compiled.check(value, run, undefined);
  } catch (error) {
    // The value is known not to match; if the budget ends here, the issues so far are enough.
    if (!(error instanceof SchemaError || error instanceof RangeError)) throw error;
  }
  return issues.length > 0 ? issues : [{ path: "", keyword: "", message: "does not match the schema" }];
}
