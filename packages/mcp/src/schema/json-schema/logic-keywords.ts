import type { Node, Site } from "./site.js";
import { invalid, readNode, readNodes } from "./site.js";
import type { Check, Run, Seen } from "./validation.js";
import { fail, goesOn, mergeSeen, newSeen } from "./validation.js";

/** `allOf`, `anyOf`, `oneOf`, `not` and `if`. */
export function addLogicKeywords(site: Site): void {
  const all = nodesOf(site, "allOf");
  if (all !== undefined) site.rest.push(allOf(all));
  const any = nodesOf(site, "anyOf");
  if (any !== undefined) site.rest.push(anyOf(any));
  const one = nodesOf(site, "oneOf");
  if (one !== undefined) site.rest.push(oneOf(one));
  const not = readNode(site, "not");
  if (not !== undefined) {
    site.rest.push((value, run) => !silently(not, value, run, undefined) || fail(run, "not", "must not match"));
  }
  const condition = readNode(site, "if");
  const positive = readNode(site, "then");
  const negative = readNode(site, "else");
  if (condition !== undefined) site.rest.push(conditional(condition, positive, negative));
}

function nodesOf(site: Site, keyword: string): readonly Node[] | undefined {
  const nodes = readNodes(site, keyword);
  if (nodes?.length === 0) throw invalid(site, keyword, "a list of at least one schema");
  return nodes;
}

/** Asks for the verdict only: what fails here is no failure of the value. */
function silently(node: Node, value: unknown, run: Run, seen: Seen | undefined): boolean {
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
      if (!goesOn(run)) return false;
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
      // Where parts are being marked as looked at, every matching branch has its say.
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
    return fail(run, "oneOf", `must match exactly one alternative, but matches ${matching.join(" and ")}`);
  };
}

/** Counts to two at most: more make no difference. */
function countMatches(nodes: readonly Node[], value: unknown, run: Run): number {
  let count = 0;
  for (const node of nodes) if (node.check(value, run, undefined) && ++count > 1) break;
  return count;
}

type Branch = NonNullable<Run["issues"]>;

function tryBranch(node: Node, value: unknown, run: Run, seen: Seen | undefined, branches: Branch[]): boolean {
  const collected = run.issues;
  const mine: Branch | undefined = collected === undefined ? undefined : [];
  run.issues = mine;
  const parts = seen === undefined ? undefined : newSeen(run);
  const ok = node.check(value, run, parts);
  run.issues = collected;
  if (ok && seen !== undefined && parts !== undefined) mergeSeen(run, seen, parts);
  if (!ok && mine !== undefined) branches.push(mine);
  return ok;
}

// Alternatives within alternatives would repeat themselves without end.
const MAX_MESSAGE = 300;

/**
 * Tells why no alternative matched.
 *
 * When all but one alternative fail at the value itself (another type, another constant) and that one fails deeper
 * inside, it is the one that was meant, and its own issues say most.
 */
function failBranches(run: Run, keyword: string, branches: readonly Branch[]): false {
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
    const parts = seen === undefined ? undefined : newSeen(run);
    const holds = silently(condition, value, run, parts);
    if (holds && seen !== undefined && parts !== undefined) mergeSeen(run, seen, parts);
    const next = holds ? positive : negative;
    return next === undefined || next.check(value, run, seen);
  };
}
