import type { StandardSchemaV1 } from "@standard-schema/spec";
import { joinPointer } from "./json-schema/json-pointer.js";
import type { JsonSchemaObject } from "./json-schema/json-schema.js";
import { SchemaError } from "./json-schema/schema-error.js";
import { type CompileOptions, compileSnapshot } from "./json-schema/validate.js";
import {
  type AnySchema,
  type InferOutput,
  isStandardSchema,
  type ToJsonSchemaOptions,
  toJsonSchema,
} from "./standard.js";

/** One reason why a value was rejected. */
export interface ParseIssue {
  /** JSON pointer to the part of the value that was rejected. */
  readonly path: string;
  /** The rule that was broken, without the path. */
  readonly message: string;
}

/** The result of parsing one value. */
export type ParseResult<T = unknown> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly ParseIssue[] };

/** A schema that was compiled once, at registration. */
export interface Parser<T = unknown> {
  /** The schema as frozen JSON Schema, as peers receive it. */
  readonly jsonSchema: JsonSchemaObject;
  /**
   * Validates a value and returns the schema's output.
   *
   * Returns a promise only if the schema library validates asynchronously. Throws `SchemaError` with code `too_complex`
   * if validation exceeds its limits.
   */
  parse(value: unknown): ParseResult<T> | Promise<ParseResult<T>>;
}

/** Options for compiling a parser. */
export type ParserOptions = ToJsonSchemaOptions & Pick<CompileOptions, "formats">;

/**
 * Compiles a parser for a schema. Throws `SchemaError` for every error in the schema, so that `parse` never reports an
 * error in the schema.
 *
 * This library validates plain JSON Schema and leaves values unchanged. A Standard Schema is validated by its own
 * library, which may transform values.
 */
export function compileParser<const S extends AnySchema>(schema: S, options: ParserOptions): Parser<InferOutput<S>>;
export function compileParser(schema: AnySchema, options: ParserOptions): Parser {
  try {
    const jsonSchema = toJsonSchema(schema, options);
    return {
      jsonSchema,
      parse: isStandardSchema(schema) ? parseWithLibrary(schema) : parseWithJsonSchema(jsonSchema, options),
    };
  } catch (error) {
    if (!(error instanceof SchemaError) || error.message.includes(options.what)) throw error;
    throw new SchemaError(error.code, `In the schema of ${options.what}: ${error.message}`, {
      path: error.path,
      cause: error,
    });
  }
}

function parseWithJsonSchema(jsonSchema: JsonSchemaObject, options: ParserOptions): Parser["parse"] {
  const validator = compileSnapshot(jsonSchema, options);
  return (value) => {
    const result = validator.validate(value);
    return result.valid ? { ok: true, value } : { ok: false, issues: result.errors };
  };
}

function parseWithLibrary(schema: StandardSchemaV1): Parser["parse"] {
  const standard = schema["~standard"];
  return (value) => {
    const result = standard.validate(value);
    // Does not use `instanceof`, because a library may return its own promise type.
    if ("then" in result) return result.then(fromStandard);
    return fromStandard(result);
  };
}

function fromStandard(result: StandardSchemaV1.Result<unknown>): ParseResult {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.map(({ path, message }) => ({ path: pointerOf(path), message })) };
}

function pointerOf(path: StandardSchemaV1.Issue["path"]): string {
  let pointer = "";
  for (const segment of path ?? []) {
    const key = typeof segment === "object" ? segment.key : segment;
    pointer = joinPointer(pointer, typeof key === "symbol" ? String(key) : key);
  }
  return pointer;
}

/** Formats issues as one line for people and models: `/age: must be at least 0; must have the property "name"`. */
export function describeIssues(issues: readonly ParseIssue[]): string {
  return issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
}
