import type { Run } from "./validation.js";
import { spend, tooComplex } from "./validation.js";

/**
 * Writes a JSON value so that equal values, and only those, give equal text: members sorted, numbers by value.
 *
 * Comparing texts in a set keeps `enum`, `const` and `uniqueItems` linear in the size of the value. Strings carry their
 * length instead of escapes, which is as unambiguous and twice as fast.
 */
export function canonicalText(value: unknown, run?: Run): string {
  return write(value, run, 0);
}

function write(value: unknown, run: Run | undefined, depth: number): string {
  if (typeof value === "string") {
    if (run !== undefined) spend(run, 1 + (value.length >> 4));
    return `"${value.length}:${value}`;
  }
  if (run !== undefined) spend(run, 1);
  // -0 is written as 0, and so are equal.
  if (typeof value !== "object" || value === null) return `${String(value)},`;
  if (run !== undefined && depth > run.budget.depth) {
    throw tooComplex(`compares values deeper than ${run.budget.depth}`, "limits.depth");
  }
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) text += write(item, run, depth + 1);
    return `[${text}]`;
  }
  for (const key of sortedKeys(value, run)) {
    // The key comes from Object.keys, so reading it by name finds the own member.
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member !== undefined) text += `${key.length}:${key}${write(member, run, depth + 1)}`;
  }
  return `{${text}}`;
}

function sortedKeys(value: object, run: Run | undefined): string[] {
  const keys = Object.keys(value);
  if (run !== undefined) spend(run, keys.length);
  for (let i = 1; i < keys.length; i++) {
    if ((keys[i - 1] ?? "") > (keys[i] ?? "")) return keys.sort();
  }
  return keys;
}
