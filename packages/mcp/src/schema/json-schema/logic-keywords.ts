import { invalid, type Node, readNode, readNodes, type SchemaBuilder } from "./schema-builder.js";
import { isSchemaObject } from "./schema-resources.js";
import {
  type Check,
  type EvaluatedMembers,
  fail,
  issueCount,
  mergeEvaluatedMembers,
  nest,
  newEvaluatedMembers,
  spend,
  type Validation,
  wantsMoreIssues,
} from "./validation.js";

/** Adds `allOf`, `anyOf`, `oneOf`, `not` and `if`. */
export function addLogicKeywords(builder: SchemaBuilder): void {
  const all = nodesOf(builder, "allOf");
  if (all !== undefined) builder.rest.push(allOf(all));
  const any = nodesOf(builder, "anyOf");
  if (any !== undefined) builder.rest.push(anyOf(any));
  const one = nodesOf(builder, "oneOf");
  if (one !== undefined) builder.rest.push(oneOf(one));
  const not = readNode(builder, "not");
  if (not !== undefined) {
    builder.rest.push(
      (value, run) => !silently(not, value, run, undefined) || fail(run, "not", 'must not match the schema in "not"'),
    );
  }
  const condition = readNode(builder, "if");
  const positive = readNode(builder, "then");
  const negative = readNode(builder, "else");
  if (condition !== undefined) builder.rest.push(conditional(condition, positive, negative));
}

function nodesOf(builder: SchemaBuilder, keyword: string): readonly Node[] | undefined {
  const nodes = readNodes(builder, keyword);
  if (nodes?.length === 0) throw invalid(builder, keyword, "a list of at least one schema");
  return nodes;
}

/** Checks without recording issues, because a mismatch with this schema does not make the value invalid. */
function silently(node: Node, value: unknown, run: Validation, seen: EvaluatedMembers | undefined): boolean {
  const collected = run.issues;
  run.issues = undefined;
  const ok = node.check(value, run, seen);
  run.issues = collected;
  return ok;
}

function allOf(nodes: readonly Node[]): Check {
  return (value, run, seen) => {
    let ok = true;
    for (const node of nodes) {
      if (node.check(value, run, seen)) continue;
      if (!wantsMoreIssues(run)) return false;
      ok = false;
    }
    return ok;
  };
}

function anyOf(nodes: readonly Node[]): Check {
  return (value, run, seen) => {
    if (run.issues === undefined && seen === undefined) {
      for (const node of nodes) if (node.check(value, run, undefined)) return true;
      return false;
    }
    const branches: Branch[] = [];
    let ok = false;
    for (const node of nodes) {
      if (!tryBranch(node, value, run, seen, branches)) continue;
      ok = true;
      // Every matching branch adds evaluated members, so the loop may stop early only if they are not recorded.
      if (seen === undefined) break;
    }
    return ok || failBranches(run, "anyOf", branches);
  };
}

function oneOf(nodes: readonly Node[]): Check {
  return (value, run, seen) => {
    if (run.issues === undefined && seen === undefined) return countMatches(nodes, value, run) === 1;
    const branches: Branch[] = [];
    const matching: number[] = [];
    for (const [i, node] of nodes.entries()) {
      if (!tryBranch(node, value, run, seen, branches)) continue;
      matching.push(i);
      if (matching.length > 1) break;
    }
    if (matching.length === 1) return true;
    if (matching.length === 0) return failBranches(run, "oneOf", branches);
    return fail(run, "oneOf", `must match exactly one alternative, but matches alternatives ${matching.join(" and ")}`);
  };
}

/** Counts the matching schemas, but stops at two, because a higher count has the same effect. */
function countMatches(nodes: readonly Node[], value: unknown, run: Validation): number {
  let count = 0;
  for (const node of nodes) if (node.check(value, run, undefined) && ++count > 1) break;
  return count;
}

type Branch = NonNullable<Validation["issues"]>;

function tryBranch(
  node: Node,
  value: unknown,
  run: Validation,
  seen: EvaluatedMembers | undefined,
  branches: Branch[],
): boolean {
  const collected = run.issues;
  const mine: Branch | undefined = collected === undefined ? undefined : [];
  run.issues = mine;
  const parts = seen === undefined ? undefined : newEvaluatedMembers(run);
  const ok = node.check(value, run, parts);
  run.issues = collected;
  if (ok && seen !== undefined && parts !== undefined) mergeEvaluatedMembers(run, seen, parts);
  if (!ok && mine !== undefined) branches.push(mine);
  return ok;
}

// Maximum length of the reasons in a message, in UTF-16 units. Longer reasons are cut, because nested alternatives
// would multiply the length.
const MAX_MESSAGE = 300;

/**
 * Explains why no alternative matched.
 *
 * If exactly one alternative fails only inside the value, while all others fail at its root (wrong type, wrong constant),
 * that alternative is most likely the intended one, so only its issues are reported.
 */
function failBranches(run: Validation, keyword: string, branches: readonly Branch[]): false {
  if (run.issues === undefined) return false;
  const meant = branches.filter((issues) => issues.length > 0 && issues.every((issue) => issue.path !== ""));
  const [only, second] = meant;
  if (only !== undefined && second === undefined) {
    for (const issue of only) if (run.issues.length < run.budget.issues) run.issues.push(issue);
    return false;
  }
  const reasons = new Set(branches.flatMap(([issue]) => (issue === undefined ? [] : [describe(issue)])));
  const shown = [...reasons].slice(0, 4).join("; or ");
  const text = shown.length > MAX_MESSAGE ? `${shown.slice(0, MAX_MESSAGE)}…` : shown;
  return fail(run, keyword, `must match one of ${branches.length} alternatives: ${text}`);
}

function describe(issue: Branch[number]): string {
  return issue.path === "" ? issue.message : `${issue.path} ${issue.message}`;
}

function conditional(condition: Node, positive: Node | undefined, negative: Node | undefined): Check {
  return (value, run, seen) => {
    const parts = seen === undefined ? undefined : newEvaluatedMembers(run);
    const holds = silently(condition, value, run, parts);
    if (holds && seen !== undefined && parts !== undefined) mergeEvaluatedMembers(run, seen, parts);
    const next = holds ? positive : negative;
    return next === undefined || next.check(value, run, seen);
  };
}

/** Adds `unevaluatedProperties` and `unevaluatedItems`, which apply to the members that no other keyword evaluated. */
export function withUnevaluated(builder: SchemaBuilder, others: Check): Check {
  if (builder.resource.dialect === "draft-07") return others;
  const properties = readNode(builder, "unevaluatedProperties");
  const items = readNode(builder, "unevaluatedItems");
  if (properties === undefined && items === undefined) return others;
  return (value, run, outer) => {
    const seen = newEvaluatedMembers(run);
    // After a failure the set of evaluated members is incomplete, so the unevaluated members are unknown.
    if (!others(value, run, seen)) return false;
    if (items !== undefined && Array.isArray(value) && !checkItems(items, value, run, seen)) return false;
    if (properties !== undefined && isSchemaObject(value) && !checkProperties(properties, value, run, seen)) {
      return false;
    }
    if (outer !== undefined) mergeEvaluatedMembers(run, outer, seen);
    return true;
  };
}

function checkItems(node: Node, value: readonly unknown[], run: Parameters<Check>[1], seen: EvaluatedMembers): boolean {
  let ok = true;
  for (let i = seen.items; i < value.length; i++) {
    spend(run, 1);
    if (seen.someItems?.has(i)) continue;
    const before = issueCount(run);
    if (node.check(value[i], run, undefined)) continue;
    nest(run, before, i);
    if (!wantsMoreIssues(run)) return false;
    ok = false;
  }
  seen.items = Number.POSITIVE_INFINITY;
  return ok;
}

function checkProperties(
  node: Node,
  value: Readonly<Record<string, unknown>>,
  run: Parameters<Check>[1],
  seen: EvaluatedMembers,
): boolean {
  let ok = true;
  for (const name of Object.keys(value)) {
    spend(run, 1);
    if (seen.allProperties || seen.properties?.has(name)) continue;
    const before = issueCount(run);
    if (node.check(value[name], run, undefined)) continue;
    if (issueCount(run) === before) fail(run, "unevaluatedProperties", `must not be present`);
    nest(run, before, name);
    if (!wantsMoreIssues(run)) return false;
    ok = false;
  }
  seen.allProperties = true;
  return ok;
}
