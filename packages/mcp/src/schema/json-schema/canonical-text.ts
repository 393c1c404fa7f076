import type { Validation } from "./validation.js";
import { spend, tooComplex } from "./validation.js";

/**
 * Writes a JSON value as text so that two values are equal if and only if their texts are equal: members are sorted,
 * and numbers are written by value.
 *
 * Comparing texts in a set keeps `enum`, `const` and `uniqueItems` linear in the size of the value. Strings are
 * prefixed with their length, which is unambiguous without escaping.
 */
export function canonicalText(value: unknown, run?: Validation): string {
  return write(value, run, 0);
}

function write(value: unknown, run: Validation | undefined, depth: number): string {
  if (typeof value === "string") {
    if (run !== undefined) spend(run, 1 + (value.length >> 4));
    return `"${value.length}:${value}`;
  }
  if (run !== undefined) spend(run, 1);
  // String(-0) is "0", so 0 and -0 are equal, as JSON Schema requires.
  if (typeof value !== "object" || value === null) return `${String(value)},`;
  if (run !== undefined && depth > run.budget.depth) {
    throw tooComplex(`compares values nested deeper than ${run.budget.depth} levels`);
  }
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) text += write(item, run, depth + 1);
    return `[${text}]`;
  }
  for (const key of sortedKeys(value, run)) {
    // Safe: the key comes from Object.keys.
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member !== undefined) text += `${key.length}:${key}${write(member, run, depth + 1)}`;
  }
  return `{${text}}`;
}

function sortedKeys(value: object, run: Validation | undefined): string[] {
  const keys = Object.keys(value);
  if (run !== undefined) spend(run, keys.length);
  for (let i = 1; i < keys.length; i++) {
    if ((keys[i - 1] ?? "") > (keys[i] ?? "")) return keys.sort();
  }
  return keys;
}
