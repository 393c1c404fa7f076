import type { JsonSchema } from "../json-schema.js";
import { SchemaError } from "../schema-error.js";
import type { Compiled } from "./compile.js";
import { compile } from "./compile.js";
import { indexResources, isSchema } from "./schema-resources.js";
import type { Formats } from "./site.js";
import { snapshot } from "./snapshot.js";
import type { Budget, Run, SchemaIssue } from "./validation.js";
import { startRun, tooComplex } from "./validation.js";

/** What a schema may cost; every limit names itself in the error that it causes. */
export interface SchemaLimits {
  /**
   * Steps of one validation, about one per subschema applied to a value: 500,000, which takes less than 50 ms.
   * Steps are counted, so the same value always ends the same way.
   */
  readonly steps?: number;
  /** Milliseconds of one validation: 50. Looked at only when a clock is given by `now`. */
  readonly timeMs?: number;
  /** Nested `$ref`s of one validation: 400, which fits the call stack of every runtime. */
  readonly depth?: number;
  /** Values (objects, lists, strings, numbers …) in one schema document: 10,000, three times the schema of this protocol. */
  readonly schemaNodes?: number;
  /** Nesting of one schema document: 256. */
  readonly schemaDepth?: number;
  /** Issues told about one value: 10, enough to mend it and short enough to be read. */
  readonly issues?: number;
}

/** How a JSON Schema is compiled. */
export interface CompileOptions {
  /** Documents by URI that `$ref` and `$schema` may lead to; nothing is ever fetched. */
  readonly schemas?: Readonly<Record<string, unknown>> | undefined;
  /** Checks for `format`; without it a format only annotates, as JSON Schema says. */
  readonly formats?: Formats | undefined;
  readonly limits?: SchemaLimits | undefined;
  /** A clock in milliseconds; without it only steps are counted. */
  readonly now?: (() => number) | undefined;
}

/** The verdict on one value. */
export type ValidationResult =
  | { readonly valid: true }
  | { readonly valid: false; readonly errors: readonly SchemaIssue[] };

/** A compiled schema. */
export interface Validator {
  /** Says whether a JSON value matches; throws `SchemaError` of code `too_complex` when that costs too much. */
  validate(value: unknown): ValidationResult;
}

const VALID: ValidationResult = Object.freeze({ valid: true });

/**
 * Compiles a JSON Schema (2020-12 by default, draft-07 where `$schema` says so) once, for many validations.
 *
 * No code is generated and nothing is fetched. Throws `SchemaError` for a schema that is malformed, of another dialect,
 * too large, or that refers to documents which are not at hand.
 */
export function compileSchema(schema: unknown, options: CompileOptions = {}): Validator {
  return compileSnapshot(snapshot(schema, schemaSize(options.limits)), options);
}

export function schemaSize(limits: SchemaLimits = {}): { schemaNodes: number; schemaDepth: number } {
  return { schemaNodes: limits.schemaNodes ?? 10_000, schemaDepth: limits.schemaDepth ?? 256 };
}

/** `compileSchema` for a schema that is already a snapshot. */
export function compileSnapshot(schema: unknown, options: CompileOptions): Validator {
  if (!isSchema(schema)) throw new SchemaError("invalid_schema", "A JSON Schema must be an object or a boolean.");
  const compiled = compileAll(schema, options);
  const { limits = {} } = options;
  const budget: Budget = {
    steps: limits.steps ?? 500_000,
    depth: limits.depth ?? 400,
    timeMs: limits.timeMs ?? 50,
    issues: limits.issues ?? 10,
    now: options.now,
  };
  return { validate: (value) => validate(compiled, budget, value) };
}

function compileAll(schema: JsonSchema, options: CompileOptions): Compiled {
  const resources = indexResources(schema, options.schemas ?? {});
  return compile(resources.main, resources, options.formats);
}

function validate(compiled: Compiled, budget: Budget, value: unknown): ValidationResult {
  const run = startRun(budget, compiled.scope);
  try {
    if (compiled.check(value, run, undefined)) return VALID;
  } catch (error) {
    if (error instanceof RangeError) throw tooComplex("needs more call stack than there is", "limits.depth");
    throw error;
  }
  return { valid: false, errors: explain(compiled, run, value) };
}

/** Runs again to say why; matching values, the common case, never pay for the messages. */
function explain(compiled: Compiled, first: Run, value: unknown): readonly SchemaIssue[] {
  const run: Run = { ...startRun(first.budget, compiled.scope), deadline: first.deadline, issues: [] };
  const { issues = [] } = run;
  try {
    compiled.check(value, run, undefined);
  } catch (error) {
    // The verdict is known; a budget that does not reach for the whole explanation leaves what was found so far.
    if (!(error instanceof SchemaError || error instanceof RangeError)) throw error;
  }
  return issues.length > 0 ? issues : [{ path: "", keyword: "", message: "does not match the schema" }];
}
