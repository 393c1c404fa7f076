import type { JsonSchema, JsonSchemaObject } from "../json-schema.js";
import { SchemaError } from "../schema-error.js";
import { joinPointer } from "./json-pointer.js";
import type { PatternTest } from "./pattern/pattern.js";
import type { Resource, Resources } from "./schema-resources.js";
import { isSchema, isSchemaObject } from "./schema-resources.js";
import type { Check } from "./validation.js";

/** A compiled schema; `check` is put in place once its keywords are compiled, so that schemas may refer in circles. */
export interface Node {
  check: Check;
}

/** Checks a format name is asserted by, when formats are asserted at all. */
export type Formats = Readonly<Record<string, (text: string) => boolean>>;

/** What the keyword compilers need to know of the compilation as a whole. */
export interface Compiler {
  readonly resources: Resources;
  readonly formats: Formats | undefined;
  /** Compiles a regular expression, once for all places that use it. */
  pattern(source: string, path: string): PatternTest;
  /** Compiles a subschema that stands inside `around`. */
  node(schema: JsonSchema, around: Resource, path: string): Node;
  /** The nodes that a `$dynamicRef` to this name may end at, by resource; complete once compilation is over. */
  dynamicNodes(name: string): Map<Resource, Node>;
}

/** One schema object being compiled: readers for its keywords, and the lists that its checks are put on. */
export interface Site {
  readonly schema: JsonSchemaObject;
  readonly resource: Resource;
  readonly path: string;
  readonly compiler: Compiler;
  mask: number;
  readonly strings: Check<string>[];
  readonly numbers: Check<number>[];
  readonly arrays: Check<readonly unknown[]>[];
  readonly objects: Check<Readonly<Record<string, unknown>>>[];
  /** Checks for values of any type: combinators, references, `enum`. */
  readonly rest: Check[];
}

export function invalid(site: Site, keyword: string, expected: string): SchemaError {
  const path = joinPointer(site.path, keyword);
  return new SchemaError("invalid_schema", `${keyword} at ${path} must be ${expected}.`, { path });
}

export function readNumber(site: Site, keyword: string): number | undefined {
  const value = site.schema[keyword];
  if (value === undefined || typeof value === "number") return value;
  throw invalid(site, keyword, "a number");
}

export function readCount(site: Site, keyword: string): number | undefined {
  const value = readNumber(site, keyword);
  if (value === undefined || (Number.isInteger(value) && value >= 0)) return value;
  throw invalid(site, keyword, "a non-negative integer");
}

export function readString(site: Site, keyword: string): string | undefined {
  const value = site.schema[keyword];
  if (value === undefined || typeof value === "string") return value;
  throw invalid(site, keyword, "a string");
}

export function readNames(site: Site, keyword: string, value = site.schema[keyword]): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((name) => typeof name === "string")) return value;
  throw invalid(site, keyword, "a list of strings");
}

export function readMap(site: Site, keyword: string): readonly (readonly [string, unknown])[] | undefined {
  const value = site.schema[keyword];
  if (value === undefined) return undefined;
  if (isSchemaObject(value)) return Object.entries(value);
  throw invalid(site, keyword, "an object");
}

/** The subschema under a keyword, compiled. */
export function readNode(site: Site, keyword: string): Node | undefined {
  const value = site.schema[keyword];
  if (value === undefined) return undefined;
  return child(site, value, keyword);
}

/** The subschemas listed under a keyword, compiled. */
export function readNodes(site: Site, keyword: string): readonly Node[] | undefined {
  const value = site.schema[keyword];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw invalid(site, keyword, "a list of schemas");
  return value.map((item, i) => child(site, item, keyword, i));
}

/** Compiles a subschema at `keyword`, or at `key` within it. */
export function child(site: Site, value: unknown, keyword: string, key?: string | number): Node {
  const parent = joinPointer(site.path, keyword);
  const path = key === undefined ? parent : joinPointer(parent, key);
  if (isSchema(value)) return site.compiler.node(value, site.resource, path);
  throw new SchemaError("invalid_schema", `The value at ${path} must be a schema (an object or a boolean).`, { path });
}
