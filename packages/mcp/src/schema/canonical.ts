import type { Run } from "./run.js";
import { spend, tooComplex } from "./run.js";

/**
 * Writes a JSON value so that equal values, and only those, give equal text: members sorted, numbers by value.
 *
 * Comparing texts in a set keeps `enum`, `const` and `uniqueItems` linear in the size of the value.
 */
export function canonicalText(value: unknown, run?: Run): string {
  return write(value, run, 0);
}

function write(value: unknown, run: Run | undefined, depth: number): string {
  if (typeof value !== "object" || value === null) {
    if (run !== undefined) spend(run, typeof value === "string" ? 2 + (value.length >> 3) : 2);
    // JSON writes -0 as 0; what JSON cannot write is still told apart by its name.
    return JSON.stringify(value) ?? typeof value;
  }
  if (run !== undefined) {
    spend(run, 8);
    if (depth > run.budget.depth) throw tooComplex(`compared values deeper than ${run.budget.depth}`, "limits.depth");
  }
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) text += (text === "" ? "" : ",") + write(item, run, depth + 1);
    return `[${text}]`;
  }
  const keys = Object.keys(value).sort();
  for (const key of keys) {
    // The key comes from Object.keys, so reading it by name finds the own member.
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    text += `${(text === "" ? "" : ",") + JSON.stringify(key)}:${write(member, run, depth + 1)}`;
  }
  return `{${text}}`;
}
