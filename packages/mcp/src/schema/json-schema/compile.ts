import { addArrayKeywords } from "./array-keywords.js";
import { compilePattern, type PatternTest } from "./compile-pattern.js";
import type { JsonSchema, JsonSchemaObject } from "./json-schema.js";
import { addLogicKeywords, withUnevaluated } from "./logic-keywords.js";
import { addObjectKeywords } from "./object-keywords.js";
import { addReferenceKeywords } from "./reference-keywords.js";
import { addScalarKeywords, addValueKeywords } from "./scalar-keywords.js";
import { type Compiler, child, type Formats, type Node, readMap, type SchemaBuilder } from "./schema-builder.js";
import { SchemaError } from "./schema-error.js";
import { isSchemaObject, type LocatedSchema, type SchemaResource, type SchemaResources } from "./schema-resources.js";
import { ANY_TYPE, TYPE_BITS, typeName } from "./type-mask.js";
import {
  allOfChecks,
  type Check,
  fail,
  refuel,
  type Validation,
  wantsMoreIssues,
  withDynamicScope,
} from "./validation.js";

/** A schema compiled to closures. */
export interface CompiledSchema {
  readonly check: Check;
  /** The initial dynamic scope. Absent if the schema has no `$dynamicRef`. */
  readonly scope: readonly SchemaResource[] | undefined;
}

/** Compiles an indexed schema, and every schema that it can reach, into closures. */
export function compile(main: LocatedSchema, resources: SchemaResources, formats: Formats | undefined): CompiledSchema {
  const nodes = new Map<JsonSchemaObject, Node>();
  const dynamic = new Map<string, Map<SchemaResource, Node>>();
  const patterns = new Map<string, PatternTest>();
  const compiler: Compiler = {
    resources,
    formats,
    pattern: (source, path) => compileOnce(patterns, source, path),
    node: (schema, around, path) => compileNode(schema, around, path, compiler, nodes),
    dynamicNodes(name) {
      const known = dynamic.get(name);
      if (known !== undefined) return known;
      const created = new Map<SchemaResource, Node>();
      dynamic.set(name, created);
      return created;
    },
  };
  const root = compiler.node(main.schema, main.resource, main.path);
  fillDynamicNodes(compiler, dynamic);
  return { check: root.check, scope: dynamic.size === 0 ? undefined : [main.resource] };
}

// Maximum number of different patterns in one schema. A schema with more is refused. A pattern takes about 0.05 ms to
// compile, so the limit bounds the time of registration to about 10 ms.
const MAX_PATTERNS = 200;

function compileOnce(patterns: Map<string, PatternTest>, source: string, path: string): PatternTest {
  const known = patterns.get(source);
  if (known !== undefined) return known;
  if (patterns.size >= MAX_PATTERNS) {
    throw new SchemaError("too_complex", `Schema too complex: it has more than ${MAX_PATTERNS} patterns.`, { path });
  }
  const test = compilePattern(source, path);
  patterns.set(source, test);
  return test;
}

/**
 * Compiles the targets of dynamic references. Compiling one target can add further resources and names, so the loop
 * repeats until nothing new appears.
 */
function fillDynamicNodes(compiler: Compiler, dynamic: Map<string, Map<SchemaResource, Node>>): void {
  for (let grew = true; grew; ) {
    grew = false;
    for (const [name, targets] of dynamic) {
      for (const resource of compiler.resources.all) {
        const anchor = resource.dynamicAnchors.get(name);
        if (anchor === undefined || targets.has(resource)) continue;
        targets.set(resource, compiler.node(anchor.schema, resource, anchor.path));
        grew = true;
      }
    }
  }
}

const ALWAYS: Node = { check: () => true };
const NEVER: Node = { check: (_value, run) => fail(run, "false", "is not allowed here") };

function compileNode(
  schema: JsonSchema,
  around: SchemaResource,
  path: string,
  compiler: Compiler,
  nodes: Map<JsonSchemaObject, Node>,
): Node {
  if (!isSchemaObject(schema)) return schema ? ALWAYS : NEVER;
  const known = nodes.get(schema);
  if (known !== undefined) return known;
  const node: Node = { check: ALWAYS.check };
  nodes.set(schema, node);
  const resource = compiler.resources.ownerOf(schema) ?? around;
  const check = compileObject(schema, resource, path, compiler);
  node.check = resource.root === schema && path !== "" ? withDynamicScope(resource, check) : check;
  return node;
}

// One empty list, shared by all schemas. Most schemas need only one or two of the five lists, and separate empty lists
// would take most of the memory of a compiled schema.
const NO_CHECKS: never[] = [];
Object.freeze(NO_CHECKS);

function compileObject(schema: JsonSchemaObject, resource: SchemaResource, path: string, compiler: Compiler): Check {
  const kinds = kindsIn(schema);
  const builder: SchemaBuilder = {
    schema,
    resource,
    path,
    compiler,
    mask: ANY_TYPE,
    strings: kinds & KIND.scalar ? [] : NO_CHECKS,
    numbers: kinds & KIND.scalar ? [] : NO_CHECKS,
    arrays: kinds & KIND.array ? [] : NO_CHECKS,
    objects: kinds & KIND.object ? [] : NO_CHECKS,
    rest: kinds & (KIND.reference | KIND.value | KIND.logic) ? [] : NO_CHECKS,
  };
  if (kinds & KIND.definitions) compileDefinitions(builder);
  if (kinds & KIND.reference) addReferenceKeywords(builder);
  // Draft-07: 'All other properties in a "$ref" object MUST be ignored'.
  if (resource.dialect === "draft-07" && schema.$ref !== undefined) return assemble(builder);
  if (kinds & KIND.value) addValueKeywords(builder);
  if (kinds & KIND.scalar) addScalarKeywords(builder);
  if (kinds & KIND.array) addArrayKeywords(builder);
  if (kinds & KIND.object) addObjectKeywords(builder);
  if (kinds & KIND.logic) addLogicKeywords(builder);
  return kinds & KIND.unevaluated ? withUnevaluated(builder, assemble(builder)) : assemble(builder);
}

/** Compiles unused definitions too, so that their errors are reported at registration. */
function compileDefinitions(builder: SchemaBuilder): void {
  for (const keyword of ["$defs", "definitions"]) {
    for (const [name, value] of readMap(builder, keyword) ?? []) child(builder, value, keyword, name);
  }
}

/**
 * Combines the checks of a schema: first the type, then the keywords for that type, then the keywords for any type.
 */
function assemble(builder: SchemaBuilder): Check {
  const { mask } = builder;
  const strings = allOfChecks(builder.strings);
  const numbers = allOfChecks(builder.numbers);
  const arrays = allOfChecks(builder.arrays);
  const objects = allOfChecks(builder.objects);
  const rest = allOfChecks(builder.rest);

  const typed: Check = (value, run, seen) => {
    if (typeof value === "string") {
      if ((mask & 16) === 0) return failType(mask, value, run);
      return strings === undefined || strings(value, run, seen);
    }
    if (typeof value === "number") {
      if ((mask & 8) === 0 && ((mask & 4) === 0 || !Number.isInteger(value))) return failType(mask, value, run);
      return numbers === undefined || numbers(value, run, seen);
    }
    if (typeof value !== "object" || value === null) {
      const bit = value === null ? 1 : typeof value === "boolean" ? 2 : 0;
      return mask === ANY_TYPE || (mask & bit) !== 0 || failType(mask, value, run);
    }
    if (Array.isArray(value)) {
      if ((mask & 32) === 0) return failType(mask, value, run);
      return arrays === undefined || arrays(value, run, seen);
    }
    if ((mask & 64) === 0) return failType(mask, value, run);
    // Safe: a non-array object is read by member names, and the checks read own members only.
    return objects === undefined || objects(value as Readonly<Record<string, unknown>>, run, seen);
  };

  if (rest === undefined) {
    return (value, run, seen) => {
      if (--run.fuel < 0) refuel(run);
      return typed(value, run, seen);
    };
  }
  return (value, run, seen) => {
    if (--run.fuel < 0) refuel(run);
    if (typed(value, run, seen)) return rest(value, run, seen);
    if (wantsMoreIssues(run)) rest(value, run, seen);
    return false;
  };
}

function failType(mask: number, value: unknown, run: Validation): false {
  if (run.issues === undefined) return false;
  const names = Object.entries(TYPE_BITS).flatMap(([name, bit]) => ((mask & bit) === 0 ? [] : [name]));
  return fail(run, "type", `must be ${names.join(" or ")}, not ${typeName(value)}`);
}

/** Groups of keywords that are compiled together, one bit each. */
const KIND = {
  definitions: 1,
  reference: 2,
  value: 4,
  scalar: 8,
  array: 16,
  object: 32,
  logic: 64,
  unevaluated: 128,
} as const;

const KEYWORDS: Readonly<Record<keyof typeof KIND, string>> = {
  definitions: "$defs definitions",
  reference: "$ref $dynamicRef",
  value: "type enum const",
  scalar: "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format",
  array: "minItems maxItems items additionalItems prefixItems contains minContains maxContains uniqueItems",
  object:
    "required minProperties maxProperties properties patternProperties additionalProperties propertyNames dependencies dependentSchemas dependentRequired",
  logic: "allOf anyOf oneOf not if then else",
  unevaluated: "unevaluatedProperties unevaluatedItems",
};

const KIND_OF = new Map<string, number>(
  Object.entries(KEYWORDS).flatMap(([kind, names]) =>
    names.split(" ").map((name) => [name, KIND[kind as keyof typeof KIND]] as const),
  ),
);

/**
 * Returns the groups whose keywords a schema uses.
 *
 * Most schemas are leaves with one or two keywords, so looking up every known keyword would be most of the work of
 * compiling.
 */
function kindsIn(schema: JsonSchemaObject): number {
  let kinds = 0;
  for (const keyword of Object.keys(schema)) kinds |= KIND_OF.get(keyword) ?? 0;
  return kinds;
}
