import { SchemaError } from "../schema-error.js";
import { joinPointer } from "./json-pointer.js";
import type { Resource } from "./schema-resources.js";

/** One reason why a value does not match, with the JSON pointer of the offending part of the value. */
export interface SchemaIssue {
  readonly path: string;
  readonly keyword: string;
  readonly message: string;
}

/** What one validation may cost. */
export interface Budget {
  readonly steps: number;
  readonly depth: number;
  readonly timeMs: number;
  readonly issues: number;
  readonly now: (() => number) | undefined;
}

/** The state of one validation; every check receives it. */
export interface Run {
  readonly budget: Budget;
  /** Steps that may be spent before `refuel` looks at the limits again. */
  fuel: number;
  /** Steps of the budget not yet handed out as fuel. */
  left: number;
  deadline: number | undefined;
  /** Nested `$ref`s; recursion in a schema always passes through one. */
  depth: number;
  /** Absent in the first pass, which only wants the verdict and stops at the first failure. */
  issues: { path: string; keyword: string; message: string }[] | undefined;
  /** Schema resources entered so far, outermost first; absent where no `$dynamicRef` asks for them. */
  readonly scope: Resource[] | undefined;
}

/** Which parts of an object or array have been looked at by a successful subschema; feeds `unevaluated*`. */
export interface Seen {
  allProperties: boolean;
  properties: Set<string> | undefined;
  /** Number of leading items looked at; Infinity for all. */
  items: number;
  someItems: Set<number> | undefined;
}

/** Says whether a value matches; records why not while `run.issues` is present. */
export type Check<T = unknown> = (value: T, run: Run, seen: Seen | undefined) => boolean;

const FUEL_PORTION = 4096;

export function startRun(budget: Budget, scope: readonly Resource[] | undefined): Run {
  return {
    budget,
    fuel: 0,
    left: budget.steps,
    deadline: undefined,
    depth: 0,
    issues: undefined,
    scope: scope === undefined ? undefined : [...scope],
  };
}

/** Charges work that is not one call of a check: string lengths, keys, list items. */
export function spend(run: Run, steps: number): void {
  run.fuel -= steps;
  if (run.fuel < 0) refuel(run);
}

/**
 * Hands out the next portion of the step budget, and looks at the clock where there is one.
 *
 * Steps are counted so that the same input always ends the same way; the clock is only read once a portion is used up,
 * because reading it for every small validation would cost more than the validation.
 */
export function refuel(run: Run): void {
  while (run.fuel < 0) {
    if (run.left <= 0) throw tooComplex(`took more than ${run.budget.steps} steps`, "limits.steps");
    const portion = Math.min(FUEL_PORTION, run.left);
    run.left -= portion;
    run.fuel += portion;
  }
  if (run.budget.now === undefined) return;
  const now = run.budget.now();
  if (run.deadline === undefined) run.deadline = now + run.budget.timeMs;
  else if (now > run.deadline) throw tooComplex(`took longer than ${run.budget.timeMs} ms`, "limits.timeMs");
}

/** The error of a validation that reached a limit. */
export function tooComplex(what: string, option: string): SchemaError {
  return new SchemaError(
    "too_complex",
    `Schema too complex: validating this value ${what}; simplify the schema or raise the schema option ${option}.`,
  );
}

/** Records a failure when somebody wants to hear about it; always false, so that checks can return it. */
export function fail(run: Run, keyword: string, message: string): false {
  const { issues } = run;
  if (issues !== undefined && issues.length < run.budget.issues) issues.push({ path: "", keyword, message });
  return false;
}

/** After a failure: is it worth checking the rest, to tell more about the value? */
export function goesOn(run: Run): boolean {
  return run.issues !== undefined && run.issues.length < run.budget.issues;
}

/**
 * Prefixes the issues recorded since `from` with the member they are about.
 *
 * Paths are put together while failures travel outwards, so that matching values pay nothing for them.
 */
export function nest(run: Run, from: number, key: string | number): void {
  if (run.issues === undefined) return;
  const prefix = joinPointer("", key);
  for (let i = from; i < run.issues.length; i++) {
    const issue = run.issues[i];
    if (issue !== undefined) issue.path = prefix + issue.path;
  }
}

export function issueCount(run: Run): number {
  return run.issues === undefined ? 0 : run.issues.length;
}

export function newSeen(run: Run): Seen {
  spend(run, 8);
  return { allProperties: false, properties: undefined, items: 0, someItems: undefined };
}

export function markProperty(seen: Seen, name: string): void {
  seen.properties ??= new Set();
  seen.properties.add(name);
}

export function markItem(seen: Seen, index: number): void {
  seen.someItems ??= new Set();
  seen.someItems.add(index);
}

export function mergeSeen(run: Run, into: Seen, from: Seen): void {
  into.allProperties ||= from.allProperties;
  into.items = Math.max(into.items, from.items);
  spend(run, (from.properties?.size ?? 0) + (from.someItems?.size ?? 0));
  for (const name of from.properties ?? []) markProperty(into, name);
  for (const index of from.someItems ?? []) markItem(into, index);
}

/** Runs several checks as one: all of them while issues are collected, else up to the first failure. */
export function allOfChecks<T>(checks: readonly Check<T>[]): Check<T> | undefined {
  const [first, second] = checks;
  if (second === undefined) return first;
  return (value, run, seen) => {
    let ok = true;
    for (const check of checks) {
      if (check(value, run, seen)) continue;
      if (!goesOn(run)) return false;
      ok = false;
    }
    return ok;
  };
}
