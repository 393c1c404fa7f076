import { joinPointer } from "./json-pointer.js";
import { SchemaError } from "./schema-error.js";
import type { SchemaResource } from "./schema-resources.js";

/** One reason why a value does not match. */
export interface SchemaIssue {
  /** JSON pointer to the part of the value that does not match. */
  readonly path: string;
  /** The keyword of the schema that failed. */
  readonly keyword: string;
  /** The rule that was broken, such as `must be at least 0`. */
  readonly message: string;
}

/** The limits of one validation. */
export interface Budget {
  readonly steps: number;
  readonly depth: number;
  readonly issues: number;
}

/** The state of one validation. Every check receives it. */
export interface Validation {
  readonly budget: Budget;
  /** Steps that may be spent before `refuel` checks the budget again. */
  fuel: number;
  /** Steps of the budget that are not yet available as fuel. */
  left: number;
  /** The current nesting of `$ref`s. Recursion in a schema always passes through a `$ref` or `$dynamicRef`. */
  depth: number;
  /** The issues found so far. Absent in the first pass, which stops at the first failure. */
  issues: { path: string; keyword: string; message: string }[] | undefined;
  /** Schema resources entered so far, outermost first. Absent if the schema has no `$dynamicRef`. */
  readonly scope: SchemaResource[] | undefined;
}

/**
 * The members of an object or array that matching subschemas have evaluated. `unevaluatedProperties` and
 * `unevaluatedItems` apply to the other members.
 */
export interface EvaluatedMembers {
  allProperties: boolean;
  properties: Set<string> | undefined;
  /** Number of evaluated leading items. Infinity if all items are evaluated. */
  items: number;
  /** Indexes of other evaluated items. */
  someItems: Set<number> | undefined;
}

/** Returns true if the value matches. Otherwise records the reason if `run.issues` is present. */
export type Check<T = unknown> = (value: T, run: Validation, seen: EvaluatedMembers | undefined) => boolean;

// Number of steps that `refuel` moves from the budget at once. Between two calls of `refuel`, a check only decrements a
// counter.
const FUEL_PORTION = 4096;

export function startValidation(budget: Budget, scope: readonly SchemaResource[] | undefined): Validation {
  return {
    budget,
    fuel: 0,
    left: budget.steps,
    depth: 0,
    issues: undefined,
    scope: scope === undefined ? undefined : [...scope],
  };
}

/** Charges work other than calling a check: reading strings, keys and list items. */
export function spend(run: Validation, steps: number): void {
  run.fuel -= steps;
  if (run.fuel < 0) refuel(run);
}

/** Moves the next portion of the step budget to `fuel`. Throws `too_complex` if the budget is used up. */
export function refuel(run: Validation): void {
  while (run.fuel < 0) {
    if (run.left <= 0) throw tooComplex(`took more than ${run.budget.steps} steps`);
    const portion = Math.min(FUEL_PORTION, run.left);
    run.left -= portion;
    run.fuel += portion;
  }
}

/** The error of a validation that reached a limit. */
export function tooComplex(what: string): SchemaError {
  return new SchemaError("too_complex", `Schema too complex: validating this value ${what}; simplify the schema.`);
}

/**
 * Records a failure if issues are collected. Always returns false, so that a check can return the result of this call.
 */
export function fail(run: Validation, keyword: string, message: string): false {
  const { issues } = run;
  if (issues !== undefined && issues.length < run.budget.issues) issues.push({ path: "", keyword, message });
  return false;
}

/** True if checking should continue after a failure, to report more issues. */
export function wantsMoreIssues(run: Validation): boolean {
  return run.issues !== undefined && run.issues.length < run.budget.issues;
}

/**
 * Prefixes the paths of the issues recorded since `from` with the member `key`.
 *
 * Paths are built while failures propagate outwards, so that matching values need no paths.
 */
export function nest(run: Validation, from: number, key: string | number): void {
  if (run.issues === undefined) return;
  const prefix = joinPointer("", key);
  for (let i = from; i < run.issues.length; i++) {
    const issue = run.issues[i];
    if (issue !== undefined) issue.path = prefix + issue.path;
  }
}

export function issueCount(run: Validation): number {
  return run.issues === undefined ? 0 : run.issues.length;
}

export function newEvaluatedMembers(run: Validation): EvaluatedMembers {
  spend(run, 8);
  return { allProperties: false, properties: undefined, items: 0, someItems: undefined };
}

export function markProperty(seen: EvaluatedMembers, name: string): void {
  seen.properties ??= new Set();
  seen.properties.add(name);
}

export function markItem(seen: EvaluatedMembers, index: number): void {
  seen.someItems ??= new Set();
  seen.someItems.add(index);
}

export function mergeEvaluatedMembers(run: Validation, into: EvaluatedMembers, from: EvaluatedMembers): void {
  into.allProperties ||= from.allProperties;
  into.items = Math.max(into.items, from.items);
  spend(run, (from.properties?.size ?? 0) + (from.someItems?.size ?? 0));
  for (const name of from.properties ?? []) markProperty(into, name);
  for (const index of from.someItems ?? []) markItem(into, index);
}

/** Combines checks. Runs all of them if issues are collected, and otherwise stops at the first failure. */
export function allOfChecks<T>(checks: readonly Check<T>[]): Check<T> | undefined {
  const [first, second] = checks;
  if (second === undefined) return first;
  return (value, run, seen) => {
    let ok = true;
    for (const check of checks) {
      if (check(value, run, seen)) continue;
      if (!wantsMoreIssues(run)) return false;
      ok = false;
    }
    return ok;
  };
}

/** Adds a schema resource to the dynamic scope while a check runs. */
export function withDynamicScope(resource: SchemaResource, check: Check): Check {
  return (value, run, seen) => {
    if (run.scope === undefined) return check(value, run, seen);
    run.scope.push(resource);
    const ok = check(value, run, seen);
    run.scope.pop();
    return ok;
  };
}
