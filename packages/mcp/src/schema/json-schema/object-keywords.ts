import type { PatternTest } from "./pattern/pattern.js";
import type { Node, Site } from "./site.js";
import { child, invalid, readCount, readMap, readNames, readNode } from "./site.js";
import type { Check, Run, Seen } from "./validation.js";
import { fail, goesOn, issueCount, markProperty, nest, spend } from "./validation.js";

type Members = Readonly<Record<string, unknown>>;

/** The keywords of objects, but for `unevaluatedProperties`. */
export function addObjectKeywords(site: Site): void {
  if (site.resource.dialect.validates) {
    const required = readNames(site, "required");
    if (required !== undefined && required.length > 0) site.objects.push(requires(required));
    addPropertyCounts(site);
  }
  addProperties(site);
  const names = readNode(site, "propertyNames");
  if (names !== undefined) site.objects.push(propertyNames(names));
  // 2020-12 has split it in two, and still allows the old name.
  addDependencies(site, "dependencies");
  if (site.resource.dialect.draft === "2020-12") {
    addDependencies(site, "dependentSchemas");
    if (site.resource.dialect.validates) addDependencies(site, "dependentRequired");
  }
}

/**
 * Reads an own member; a member that is `undefined` counts as absent, because JSON text would not carry it.
 *
 * Only the few names that every object inherits need the slower question whether the member is its own.
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
      if (!goesOn(run)) return false;
    }
    return ok;
  };
}

function addPropertyCounts(site: Site): void {
  const least = readCount(site, "minProperties");
  if (least !== undefined) {
    const message = `must have at least ${least} ${least === 1 ? "property" : "properties"}`;
    site.objects.push((value, run) => countKeys(value, run) >= least || fail(run, "minProperties", message));
  }
  const most = readCount(site, "maxProperties");
  if (most !== undefined) {
    const message = `must have at most ${most} ${most === 1 ? "property" : "properties"}`;
    site.objects.push((value, run) => countKeys(value, run) <= most || fail(run, "maxProperties", message));
  }
}

function countKeys(value: Members, run: Run): number {
  const { length } = Object.keys(value);
  spend(run, length >> 2);
  return length;
}

function addProperties(site: Site): void {
  const properties = (readMap(site, "properties") ?? []).map(
    ([name, value]) => [name, child(site, value, "properties", name)] as const,
  );
  const patterns = (readMap(site, "patternProperties") ?? []).map(([source, value]) => ({
    matches: site.compiler.pattern(source, `${site.path}/patternProperties`),
    node: child(site, value, "patternProperties", source),
  }));
  const additional = readNode(site, "additionalProperties");
  if (properties.length > 0) site.objects.push(namedProperties(properties));
  if (patterns.length > 0 || additional !== undefined) {
    const keyword = site.schema.additionalProperties === false ? undefined : additional;
    const closed = site.schema.additionalProperties === false;
    site.objects.push(otherProperties(new Set(properties.map(([name]) => name)), patterns, keyword, closed));
  }
}

/** `properties`: looks up the names that the schema knows, however many members the value has. */
function namedProperties(properties: readonly (readonly [string, Node])[]): Check<Members> {
  const entries = properties.map(([name, node]) => ({ name, node, read: reader(name) }));
  return (members, run, seen) => {
    let ok = true;
    for (const { name, node, read } of entries) {
      const value = read(members);
      if (value === undefined) continue;
      if (seen !== undefined) markProperty(seen, name);
      if (checkMember(node, name, value, run)) continue;
      if (!goesOn(run)) return false;
      ok = false;
    }
    return ok;
  };
}

function checkMember(node: Node, name: string, value: unknown, run: Run): boolean {
  const before = issueCount(run);
  if (node.check(value, run, undefined)) return true;
  nest(run, before, name);
  return false;
}

interface PatternEntry {
  readonly matches: PatternTest;
  readonly node: Node;
}

/** `patternProperties` and `additionalProperties`: these go by the members that the value has. */
function otherProperties(
  named: ReadonlySet<string>,
  patterns: readonly PatternEntry[],
  additional: Node | undefined,
  closed: boolean,
): Check<Members> {
  const checkOne = (name: string, value: unknown, run: Run, seen: Seen | undefined): boolean => {
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
      if (!goesOn(run)) return false;
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
      if (!goesOn(run)) return false;
      ok = false;
    }
    return ok;
  };
}

/** What applies only where some property is present: a schema for the whole object, or names that it must have. */
function addDependencies(site: Site, keyword: "dependencies" | "dependentSchemas" | "dependentRequired"): void {
  for (const [name, value] of readMap(site, keyword) ?? []) {
    const read = reader(name);
    const names = Array.isArray(value) ? readNames(site, keyword, value) : undefined;
    if (names === undefined && keyword === "dependentRequired") throw invalid(site, keyword, "lists of names");
    if (names !== undefined && keyword !== "dependentSchemas") {
      const check = requires(names, ` because it has ${JSON.stringify(name)}`);
      site.objects.push((members, run, seen) => read(members) === undefined || check(members, run, seen));
    } else {
      const node = child(site, value, keyword, name);
      site.objects.push((members, run, seen) => read(members) === undefined || node.check(members, run, seen));
    }
  }
}
