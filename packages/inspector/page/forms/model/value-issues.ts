import { branchOfValue, fieldShows } from "./field-branches.js";
import type { FormField } from "./form-field.js";
import { formFieldOf } from "./form-model.js";
import { isJsonObject, memberOf, sameJson } from "./json-members.js";

/** Something that keeps a value from fitting its schema. */
export interface ValueIssue {
  /** A JSON pointer into the value; of what is missing too. */
  readonly path: string;
  /** What to change, without the place. */
  readonly message: string;
}

/** Fields that one check, which comes with each key that is typed, looks at, and what it finds at most; beyond, nothing is said. */
const MOST_LOOKS = 2_000;
const MOST_ISSUES = 100;

interface Check {
  readonly root: unknown;
  readonly issues: ValueIssue[];
  looks: number;
}

/**
 * What to change in a value so that it fits a schema, at the fields that a form shows. As far as a form can tell: `pattern` and
 * `format` are not looked at, because expressions of servers are never run. The server is the one that judges.
 */
export function valueIssues(schema: unknown, value: unknown): readonly ValueIssue[] {
  const check: Check = { root: schema, issues: [], looks: 0 };
  look(schema, value, "", check);
  return check.issues.slice(0, MOST_ISSUES);
}

function look(schema: unknown, value: unknown, path: string, check: Check): void {
  if (++check.looks > MOST_LOOKS || check.issues.length >= MOST_ISSUES) return;
  const field = formFieldOf(schema, check.root, value);
  // A field that cannot show its value says so itself.
  if (value === undefined || (value === null && field.nullable) || !fieldShows(field, value)) return;
  for (const message of [...textIssues(field, value), ...numberIssues(field, value), ...listIssues(field, value)]) {
    check.issues.push({ path, message });
  }
  lookInside(field, value, path, check);
}

function lookInside(field: FormField, value: unknown, path: string, check: Check): void {
  if (field.kind === "object") {
    for (const { name, schema, required } of field.members) {
      const member = memberOf(value, name);
      const at = `${path}/${escaped(name)}`;
      if (member === undefined && required) check.issues.push({ path: at, message: "It must be given." });
      else look(schema, member, at, check);
    }
    lookAtOthers(field, value, path, check);
  } else if (field.kind === "array" && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (check.looks > MOST_LOOKS) return;
      look(index < field.prefix.length ? field.prefix[index] : field.items, item, `${path}/${index}`, check);
    }
  } else if (field.kind === "branches") {
    // Each is compared with the value.
    check.looks += field.branches.length;
    const branch = branchOfValue(field.branches, value, check.root);
    if (branch !== undefined) look(field.branches[branch]?.schema, value, path, check);
  }
}

/** Members that the schema does not name. */
function lookAtOthers(field: FormField & { kind: "object" }, value: unknown, path: string, check: Check): void {
  if (!isJsonObject(value) || field.extras.length > 0 || field.schema["additionalProperties"] !== false) return;
  const known = new Set(field.members.map(({ name }) => name));
  for (const name of Object.keys(value)) {
    if (check.issues.length >= MOST_ISSUES) return;
    if (known.has(name)) continue;
    check.issues.push({ path: `${path}/${escaped(name)}`, message: "The schema has no such member." });
  }
}

function textIssues({ kind, schema }: FormField, value: unknown): string[] {
  if (kind !== "text" || typeof value !== "string") return [];
  // Schemas count characters, not the halves of pairs.
  return outside([...value].length, schema["minLength"], schema["maxLength"], "have", "character");
}

function numberIssues(field: FormField, value: unknown): string[] {
  if (field.kind !== "number" || typeof value !== "number") return [];
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field.schema;
  const above = typeof exclusiveMinimum === "number" && value <= exclusiveMinimum;
  const below = typeof exclusiveMaximum === "number" && value >= exclusiveMaximum;
  return [
    ...outside(value, minimum, maximum, "be", ""),
    ...(above ? [`It must be above ${exclusiveMinimum}.`] : []),
    ...(below ? [`It must be below ${exclusiveMaximum}.`] : []),
    ...(isMultiple(value, multipleOf) ? [] : [`It must be a multiple of ${multipleOf}.`]),
  ];
}

function isMultiple(value: number, of: unknown): boolean {
  if (typeof of !== "number" || of <= 0) return true;
  const times = value / of;
  // Quotients of decimal fractions are not exact.
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

function listIssues({ kind, schema }: FormField, value: unknown): string[] {
  if ((kind !== "array" && kind !== "choices") || !Array.isArray(value)) return [];
  const few = outside(value.length, schema["minItems"], schema["maxItems"], "have", "item");
  return schema["uniqueItems"] === true && hasTwice(value) ? [...few, "No item may be there twice."] : few;
}

/** Items that are compared with each other: the time grows with their square. */
const MOST_COMPARED = 300;

function hasTwice(list: readonly unknown[]): boolean {
  const compared = list.slice(0, MOST_COMPARED);
  return compared.some((item, index) => compared.findIndex((other) => sameJson(other, item)) < index);
}

function outside(size: number, least: unknown, most: unknown, verb: string, unit: string): string[] {
  const words = (count: number) => `${count}${unit === "" ? "" : ` ${unit}${count === 1 ? "" : "s"}`}`;
  if (typeof least === "number" && size < least) return [`It must ${verb} at least ${words(least)}.`];
  if (typeof most === "number" && size > most) return [`It must ${verb} at most ${words(most)}.`];
  return [];
}

const escaped = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");
