import { branchOfValue, canShowValue } from "./field-branches.js";
import type { FormField } from "./form-field.js";
import { formFieldOf } from "./form-model.js";
import { isJsonObject, memberOf, sameJson } from "./json-members.js";

/** A violation of the schema. */
export interface ValueIssue {
  /** JSON pointer into the value. Also set for a missing member. */
  readonly path: string;
  /** The required change, without the path. */
  readonly message: string;
}

/**
 * Maximum number of visited fields and of reported issues in one check. The rest is not checked, because a check runs
 * after every typed key.
 */
const MAX_CHECKED_FIELDS = 2_000;
const MAX_ISSUES = 100;

interface Check {
  readonly root: unknown;
  readonly issues: ValueIssue[];
  fields: number;
}

/**
 * Validates a value as far as a form can, and returns the issues by field. Ignores `pattern` and `format`, because
 * regular expressions from servers are never run. The server validates the value anyway.
 */
export function valueIssues(schema: unknown, value: unknown): readonly ValueIssue[] {
  const check: Check = { root: schema, issues: [], fields: 0 };
  checkField(schema, value, "", check);
  return check.issues.slice(0, MAX_ISSUES);
}

function checkField(schema: unknown, value: unknown, path: string, check: Check): void {
  if (++check.fields > MAX_CHECKED_FIELDS || check.issues.length >= MAX_ISSUES) return;
  const field = formFieldOf(schema, check.root, value);
  // A field that cannot show its value reports this itself, so it needs no further issue.
  if (value === undefined || (value === null && field.nullable) || !canShowValue(field, value)) return;
  for (const message of [...textIssues(field, value), ...numberIssues(field, value), ...listIssues(field, value)]) {
    check.issues.push({ path, message });
  }
  checkChildren(field, value, path, check);
}

function checkChildren(field: FormField, value: unknown, path: string, check: Check): void {
  if (field.kind === "object") {
    for (const { name, schema, required } of field.members) {
      const member = memberOf(value, name);
      const at = `${path}/${escaped(name)}`;
      if (member === undefined && required) check.issues.push({ path: at, message: "Required" });
      else checkField(schema, member, at, check);
    }
    checkUnknownMembers(field, value, path, check);
  } else if (field.kind === "array" && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (check.fields > MAX_CHECKED_FIELDS) return;
      checkField(index < field.prefix.length ? field.prefix[index] : field.items, item, `${path}/${index}`, check);
    }
  } else if (field.kind === "branches") {
    // Comparing a branch with the value counts as a visit.
    check.fields += field.branches.length;
    const branch = branchOfValue(field.branches, value, check.root);
    if (branch !== undefined) checkField(field.branches[branch]?.schema, value, path, check);
  }
}

/** Reports members that the schema does not name, if the schema forbids such members. */
function checkUnknownMembers(field: FormField & { kind: "object" }, value: unknown, path: string, check: Check): void {
  if (!isJsonObject(value) || field.extras.length > 0 || field.schema["additionalProperties"] !== false) return;
  const known = new Set(field.members.map(({ name }) => name));
  for (const name of Object.keys(value)) {
    if (check.issues.length >= MAX_ISSUES) return;
    if (known.has(name)) continue;
    check.issues.push({ path: `${path}/${escaped(name)}`, message: "Not in the schema" });
  }
}

function textIssues({ kind, schema }: FormField, value: unknown): string[] {
  if (kind !== "text" || typeof value !== "string") return [];
  // Schemas count code points, not UTF-16 units.
  return rangeIssues([...value].length, schema["minLength"], schema["maxLength"], "have", "character");
}

function numberIssues(field: FormField, value: unknown): string[] {
  if (field.kind !== "number" || typeof value !== "number") return [];
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field.schema;
  const above = typeof exclusiveMinimum === "number" && value <= exclusiveMinimum;
  const below = typeof exclusiveMaximum === "number" && value >= exclusiveMaximum;
  return [
    ...rangeIssues(value, minimum, maximum, "be", ""),
    ...(above ? [`Must be above ${exclusiveMinimum}`] : []),
    ...(below ? [`Must be below ${exclusiveMaximum}`] : []),
    ...(isMultiple(value, multipleOf) ? [] : [`Must be a multiple of ${multipleOf}`]),
  ];
}

function isMultiple(value: number, of: unknown): boolean {
  if (typeof of !== "number" || of <= 0) return true;
  const times = value / of;
  // Quotients of decimal fractions are not exact, so a small difference is allowed.
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

function listIssues({ kind, schema }: FormField, value: unknown): string[] {
  if ((kind !== "array" && kind !== "choices") || !Array.isArray(value)) return [];
  const few = rangeIssues(value.length, schema["minItems"], schema["maxItems"], "have", "item");
  return schema["uniqueItems"] === true && hasDuplicates(value) ? [...few, "Items must be unique"] : few;
}

/**
 * Maximum number of items compared with each other, because the time grows quadratically. Later duplicates are not
 * found.
 */
const MAX_COMPARED_ITEMS = 300;

function hasDuplicates(list: readonly unknown[]): boolean {
  const compared = list.slice(0, MAX_COMPARED_ITEMS);
  return compared.some((item, index) => compared.findIndex((other) => sameJson(other, item)) < index);
}

function rangeIssues(size: number, least: unknown, most: unknown, verb: string, unit: string): string[] {
  const words = (count: number) => `${count}${unit === "" ? "" : ` ${unit}${count === 1 ? "" : "s"}`}`;
  if (typeof least === "number" && size < least) return [`Must ${verb} at least ${words(least)}`];
  if (typeof most === "number" && size > most) return [`Must ${verb} at most ${words(most)}`];
  return [];
}

const escaped = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");
