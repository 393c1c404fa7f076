import type { JsonSchema, JsonSchemaObject } from "../json-schema.js";
import { SchemaError } from "../schema-error.js";
import { addArrayKeywords } from "./array-keywords.js";
import { entering } from "./entering.js";
import { KIND, kindsIn } from "./keyword-kinds.js";
import { addLogicKeywords } from "./logic-keywords.js";
import { addObjectKeywords } from "./object-keywords.js";
import type { PatternTest } from "./pattern/pattern.js";
import { compilePattern } from "./pattern/pattern.js";
import { addReferenceKeywords } from "./reference-keywords.js";
import { addScalarKeywords, addValueKeywords } from "./scalar-keywords.js";
import type { Located, Resource, Resources } from "./schema-resources.js";
import { isSchemaObject } from "./schema-resources.js";
import type { Compiler, Formats, Node, Site } from "./site.js";
import { child, readMap } from "./site.js";
import { ANY_TYPE, TYPE_BITS, typeName } from "./type-mask.js";
import { withUnevaluated } from "./unevaluated-keywords.js";
import type { Check, Run } from "./validation.js";
import { allOfChecks, fail, goesOn, refuel } from "./validation.js";

/** A schema as closures. */
export interface Compiled {
  readonly check: Check;
  /** What the dynamic scope starts with; absent where no `$dynamicRef` needs one. */
  readonly scope: readonly Resource[] | undefined;
}

/** Turns an indexed schema into closures; every schema that it can reach is compiled here, none later. */
export function compile(main: Located, resources: Resources, formats: Formats | undefined): Compiled {
  const nodes = new Map<JsonSchemaObject, Node>();
  const dynamic = new Map<string, Map<Resource, Node>>();
  const patterns = new Map<string, PatternTest>();
  const compiler: Compiler = {
    resources,
    formats,
    pattern: (source, path) => compileOnce(patterns, source, path),
    node: (schema, around, path) => compileNode(schema, around, path, compiler, nodes),
    dynamicNodes(name) {
      const known = dynamic.get(name);
      if (known !== undefined) return known;
      const created = new Map<Resource, Node>();
      dynamic.set(name, created);
      return created;
    },
  };
  const root = compiler.node(main.schema, main.resource, main.path);
  fillDynamicNodes(compiler, dynamic);
  return { check: root.check, scope: dynamic.size === 0 ? undefined : [main.resource] };
}

// Each takes about 0.05 ms to compile.
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

/** Compiling a dynamic target may lead into new resources and new names, so this runs until nothing is new. */
function fillDynamicNodes(compiler: Compiler, dynamic: Map<string, Map<Resource, Node>>): void {
  for (let grew = true; grew; ) {
    grew = false;
    for (const [name, targets] of dynamic) {
      for (const resource of compiler.resources.found) {
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
  around: Resource,
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
  node.check = resource.root === schema && path !== "" ? entering(resource, check) : check;
  return node;
}

// Most schemas need one or two lists; a large schema is mostly what its lists take.
const NONE: never[] = [];
Object.freeze(NONE);

function compileObject(schema: JsonSchemaObject, resource: Resource, path: string, compiler: Compiler): Check {
  const kinds = kindsIn(schema);
  const site: Site = {
    schema,
    resource,
    path,
    compiler,
    mask: ANY_TYPE,
    strings: kinds & KIND.scalar ? [] : NONE,
    numbers: kinds & KIND.scalar ? [] : NONE,
    arrays: kinds & KIND.array ? [] : NONE,
    objects: kinds & KIND.object ? [] : NONE,
    rest: kinds & (KIND.reference | KIND.value | KIND.logic) ? [] : NONE,
  };
  if (kinds & KIND.definitions) compileDefinitions(site);
  if (kinds & KIND.reference) addReferenceKeywords(site);
  // Draft-07: 'All other properties in a "$ref" object MUST be ignored'.
  if (resource.dialect.draft === "draft-07" && schema.$ref !== undefined) return assemble(site);
  if (resource.dialect.validates) {
    if (kinds & KIND.value) addValueKeywords(site);
    if (kinds & KIND.scalar) addScalarKeywords(site);
  }
  if (kinds & KIND.array) addArrayKeywords(site);
  if (kinds & KIND.object) addObjectKeywords(site);
  if (kinds & KIND.logic) addLogicKeywords(site);
  return kinds & KIND.unevaluated ? withUnevaluated(site, assemble(site)) : assemble(site);
}

/** Definitions are compiled even where nothing refers to them, so that what is wrong with them is told at once. */
function compileDefinitions(site: Site): void {
  for (const keyword of ["$defs", "definitions"]) {
    for (const [name, value] of readMap(site, keyword) ?? []) child(site, value, keyword, name);
  }
}

/** One closure for a schema: a type test, then the checks for that type, then those for any type. */
function assemble(site: Site): Check {
  const { mask } = site;
  const strings = allOfChecks(site.strings);
  const numbers = allOfChecks(site.numbers);
  const arrays = allOfChecks(site.arrays);
  const objects = allOfChecks(site.objects);
  const rest = allOfChecks(site.rest);

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
    // Every object that is no array is read by member names; the keyword checks look at own members only.
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
    if (goesOn(run)) rest(value, run, seen);
    return false;
  };
}

function failType(mask: number, value: unknown, run: Run): false {
  if (run.issues === undefined) return false;
  const names = Object.entries(TYPE_BITS).flatMap(([name, bit]) => ((mask & bit) === 0 ? [] : [name]));
  return fail(run, "type", `must be ${names.join(" or ")}, not ${typeName(value)}`);
}
