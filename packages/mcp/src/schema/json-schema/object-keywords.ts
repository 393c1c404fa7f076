import type { PatternTest } from "./compile-pattern.js";
import {
  addLimit,
  child,
  invalid,
  type Node,
  readMap,
  readNames,
  readNode,
  type SchemaBuilder,
} from "./schema-builder.js";
import {
  type Check,
  type EvaluatedMembers,
  fail,
  issueCount,
  markProperty,
  nest,
  spend,
  type Validation,
  wantsMoreIssues,
} from "./validation.js";

type Members = Readonly<Record<string, unknown>>;

/** Adds the object keywords, except `unevaluatedProperties`. */
export function addObjectKeywords(builder: SchemaBuilder): void {
  const required = readNames(builder, "required");
  if (required !== undefined && required.length > 0) builder.objects.push(requires(required));
  addPropertyCounts(builder);
  addProperties(builder);
  const names = readNode(builder, "propertyNames");
  if (names !== undefined) builder.objects.push(propertyNames(names));
  // 2020-12 replaced `dependencies` by two keywords, but still allows it.
  addDependencies(builder, "dependencies");
  if (builder.resource.dialect === "2020-12") {
    addDependencies(builder, "dependentSchemas");
    addDependencies(builder, "dependentRequired");
  }
}

/**
 * Creates a function that reads an own member. `undefined` counts as absent, because JSON cannot represent it.
 *
 * Only names that every object inherits need the slower `hasOwn` check.
 */
function reader(name: string): (members: Members) => unknown {
  if (!(name in Object.prototype)) return (members) => members[name];
  return (members) => (Object.hasOwn(members, name) ? members[name] : undefined);
}

function requires(names: readonly string[], because = ""): Check<Members> {
  const inherited = names.some((name) => name in Object.prototype);
  const has = (members: Members, name: string) =>
    members[name] !== undefined && (!inherited || Object.hasOwn(members, name));
  return (members, run) => {
    let ok = true;
    for (const name of names) {
      if (has(members, name)) continue;
      if (run.issues === undefined) return false;
      ok = fail(run, "required", `must have the property ${JSON.stringify(name)}${because}`);
      if (!wantsMoreIssues(run)) return false;
    }
    return ok;
  };
}

function addPropertyCounts(builder: SchemaBuilder): void {
  const units = ["property", "properties"] as const;
  addLimit(builder, builder.objects, "minProperties", units, (value, least, run) => countKeys(value, run) >= least);
  addLimit(builder, builder.objects, "maxProperties", units, (value, most, run) => countKeys(value, run) <= most);
}

function countKeys(value: Members, run: Validation): number {
  const { length } = Object.keys(value);
  spend(run, length >> 2);
  return length;
}

function addProperties(builder: SchemaBuilder): void {
  const properties = (readMap(builder, "properties") ?? []).map(
    ([name, value]) => [name, child(builder, value, "properties", name)] as const,
  );
  const patterns = (readMap(builder, "patternProperties") ?? []).map(([source, value]) => ({
    matches: builder.compiler.pattern(source, `${builder.path}/patternProperties`),
    node: child(builder, value, "patternProperties", source),
  }));
  const additional = readNode(builder, "additionalProperties");
  if (properties.length > 0) builder.objects.push(namedProperties(properties));
  if (patterns.length > 0 || additional !== undefined) {
    const keyword = builder.schema.additionalProperties === false ? undefined : additional;
    const closed = builder.schema.additionalProperties === false;
    builder.objects.push(otherProperties(new Set(properties.map(([name]) => name)), patterns, keyword, closed));
  }
}

/**
 * Checks `properties`. Iterates over the schema's names, so that the cost does not depend on the number of members.
 */
function namedProperties(properties: readonly (readonly [string, Node])[]): Check<Members> {
  const entries = properties.map(([name, node]) => ({ name, node, read: reader(name) }));
  return (members, run, seen) => {
    let ok = true;
    for (const { name, node, read } of entries) {
      const value = read(members);
      if (value === undefined) continue;
      if (seen !== undefined) markProperty(seen, name);
      if (checkMember(node, name, value, run)) continue;
      if (!wantsMoreIssues(run)) return false;
      ok = false;
    }
    return ok;
  };
}

function checkMember(node: Node, name: string, value: unknown, run: Validation): boolean {
  const before = issueCount(run);
  if (node.check(value, run, undefined)) return true;
  nest(run, before, name);
  return false;
}

interface PatternEntry {
  readonly matches: PatternTest;
  readonly node: Node;
}

/** Checks `patternProperties` and `additionalProperties`. Iterates over the members of the value. */
function otherProperties(
  named: ReadonlySet<string>,
  patterns: readonly PatternEntry[],
  additional: Node | undefined,
  closed: boolean,
): Check<Members> {
  const checkOne = (name: string, value: unknown, run: Validation, seen: EvaluatedMembers | undefined): boolean => {
    let ok = true;
    let known = named.has(name);
    for (const pattern of patterns) {
      if (!pattern.matches(name, run)) continue;
      known = true;
      ok = checkMember(pattern.node, name, value, run) && ok;
      if (seen !== undefined) markProperty(seen, name);
    }
    if (known) return ok;
    if (closed && run.issues === undefined) return false;
    if (closed) return fail(run, "additionalProperties", `must not have the property ${JSON.stringify(name)}`);
    if (additional === undefined) return ok;
    if (seen !== undefined) markProperty(seen, name);
    return checkMember(additional, name, value, run);
  };
  return (members, run, seen) => {
    let ok = true;
    for (const name of Object.keys(members)) {
      if (--run.fuel < 0) spend(run, 0);
      const value = members[name];
      if (value === undefined || checkOne(name, value, run, seen)) continue;
      if (!wantsMoreIssues(run)) return false;
      ok = false;
    }
    return ok;
  };
}

function propertyNames(node: Node): Check<Members> {
  return (members, run) => {
    let ok = true;
    for (const name of Object.keys(members)) {
      const before = issueCount(run);
      if (node.check(name, run, undefined)) continue;
      for (const issue of run.issues?.slice(before) ?? []) {
        issue.message = `must not have the property name ${JSON.stringify(name)}: it ${issue.message}`;
      }
      if (!wantsMoreIssues(run)) return false;
      ok = false;
    }
    return ok;
  };
}

/**
 * Adds a schema for the whole object, or a list of required names, that applies only if a given property is present.
 */
function addDependencies(
  builder: SchemaBuilder,
  keyword: "dependencies" | "dependentSchemas" | "dependentRequired",
): void {
  for (const [name, value] of readMap(builder, keyword) ?? []) {
    const read = reader(name);
    const names = Array.isArray(value) ? readNames(builder, keyword, value) : undefined;
    if (names === undefined && keyword === "dependentRequired")
      throw invalid(builder, keyword, "an object whose values are lists of names");
    if (names !== undefined && keyword !== "dependentSchemas") {
      const check = requires(names, ` because it has ${JSON.stringify(name)}`);
      builder.objects.push((members, run, seen) => read(members) === undefined || check(members, run, seen));
    } else {
      const node = child(builder, value, keyword, name);
      builder.objects.push((members, run, seen) => read(members) === undefined || node.check(members, run, seen));
    }
  }
}
