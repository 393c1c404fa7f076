import type { PatternTest } from "./compile-pattern.js";
import { joinPointer } from "./json-pointer.js";
import type { JsonSchema, JsonSchemaObject } from "./json-schema.js";
import { SchemaError } from "./schema-error.js";
import { isSchema, isSchemaObject, type SchemaResource, type SchemaResources } from "./schema-resources.js";
import { type Check, fail, type Validation } from "./validation.js";

/** A compiled schema. `check` is set after the schema's keywords are compiled, so that schemas can be recursive. */
export interface Node {
  check: Check;
}

/** The checks for `format`, by format name. Formats without a check are ignored. */
export type Formats = Readonly<Record<string, (text: string) => boolean>>;

/** The state that all keyword compilers of one compilation share. */
export interface Compiler {
  readonly resources: SchemaResources;
  readonly formats: Formats | undefined;
  /** Compiles a regular expression once for all places that use it. */
  pattern(source: string, path: string): PatternTest;
  /** Compiles a subschema of the resource `around`. */
  node(schema: JsonSchema, around: SchemaResource, path: string): Node;
  /** The possible targets of a `$dynamicRef` to this name, by resource. Complete when compilation ends. */
  dynamicNodes(name: string): Map<SchemaResource, Node>;
}

/** A schema object that is being compiled. Keyword compilers read `schema` and append their checks to the lists. */
export interface SchemaBuilder {
  readonly schema: JsonSchemaObject;
  readonly resource: SchemaResource;
  readonly path: string;
  readonly compiler: Compiler;
  /** The bit mask of the allowed types. */
  mask: number;
  readonly strings: Check<string>[];
  readonly numbers: Check<number>[];
  readonly arrays: Check<readonly unknown[]>[];
  readonly objects: Check<Readonly<Record<string, unknown>>>[];
  /** Checks for values of any type: combinators, references, `enum`. */
  readonly rest: Check[];
}

/** The error for a keyword with an invalid value. */
export function invalid(builder: SchemaBuilder, keyword: string, expected: string): SchemaError {
  const path = joinPointer(builder.path, keyword);
  return new SchemaError("invalid_schema", `${keyword} at ${path} must be ${expected}.`, { path });
}

export function readNumber(builder: SchemaBuilder, keyword: string): number | undefined {
  const value = builder.schema[keyword];
  if (value === undefined || typeof value === "number") return value;
  throw invalid(builder, keyword, "a number");
}

export function readCount(builder: SchemaBuilder, keyword: string): number | undefined {
  const value = readNumber(builder, keyword);
  if (value === undefined || (Number.isInteger(value) && value >= 0)) return value;
  throw invalid(builder, keyword, "a non-negative integer");
}

/** Adds the check of a keyword such as `minItems` or `maxItems` that limits a count. */
export function addLimit<T>(
  builder: SchemaBuilder,
  checks: Check<T>[],
  keyword: string,
  [one, many]: readonly [string, string],
  fits: (value: T, limit: number, run: Validation) => boolean,
): void {
  const limit = readCount(builder, keyword);
  if (limit === undefined) return;
  const bound = keyword.startsWith("min") ? "least" : "most";
  const message = `must have at ${bound} ${limit} ${limit === 1 ? one : many}`;
  checks.push((value, run) => fits(value, limit, run) || fail(run, keyword, message));
}

export function readString(builder: SchemaBuilder, keyword: string): string | undefined {
  const value = builder.schema[keyword];
  if (value === undefined || typeof value === "string") return value;
  throw invalid(builder, keyword, "a string");
}

export function readNames(
  builder: SchemaBuilder,
  keyword: string,
  value = builder.schema[keyword],
): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((name) => typeof name === "string")) return value;
  throw invalid(builder, keyword, "a list of strings");
}

export function readMap(builder: SchemaBuilder, keyword: string): readonly (readonly [string, unknown])[] | undefined {
  const value = builder.schema[keyword];
  if (value === undefined) return undefined;
  if (isSchemaObject(value)) return Object.entries(value);
  throw invalid(builder, keyword, "an object");
}

/** Compiles the subschema of a keyword. Undefined if the keyword is absent. */
export function readNode(builder: SchemaBuilder, keyword: string): Node | undefined {
  const value = builder.schema[keyword];
  if (value === undefined) return undefined;
  return child(builder, value, keyword);
}

/** Compiles the subschemas listed under a keyword. Undefined if the keyword is absent. */
export function readNodes(builder: SchemaBuilder, keyword: string): readonly Node[] | undefined {
  const value = builder.schema[keyword];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw invalid(builder, keyword, "a list of schemas");
  return value.map((item, i) => child(builder, item, keyword, i));
}

/** Compiles the subschema at `keyword`, or at `key` within the value of `keyword`. */
export function child(builder: SchemaBuilder, value: unknown, keyword: string, key?: string | number): Node {
  const parent = joinPointer(builder.path, keyword);
  const path = key === undefined ? parent : joinPointer(parent, key);
  if (isSchema(value)) return builder.compiler.node(value, builder.resource, path);
  throw new SchemaError("invalid_schema", `The value at ${path} must be a schema (an object or a boolean).`, { path });
}
