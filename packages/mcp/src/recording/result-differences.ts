import { isObject } from "../jsonrpc/message.js";
import { matchesRedacted } from "./redactor.js";

/** One place at which two JSON values differ. */
export interface Difference {
  /** The member names and indexes from the root of the value to the place, joined by dots. */
  readonly path: string;
  /** The recorded value. Undefined if it was absent. */
  readonly recorded: unknown;
  /** The value received now. Undefined if it is absent. */
  readonly now: unknown;
}

/** Maximum number of reported differences per result. Further differences are not reported. */
const MAX_DIFFERENCES = 100;

/**
 * Compares a result with the recorded result. Skips the paths in `ignored`, in which `*` matches any name.
 *
 * @example
 * ```ts
 * import { differencesOf } from "@parley/mcp/recording";
 *
 * const differences = differencesOf({ total: 3, at: "10:00" }, { total: 4, at: "10:05" }, ["at"]);
 * ```
 */
export function differencesOf(recorded: unknown, now: unknown, ignored: readonly string[] = []): Difference[] {
  const found: Difference[] = [];
  compare(recorded, now, [], { found, ignored: ignored.map((path) => path.split(".")) });
  return found;
}

interface Comparison {
  readonly found: Difference[];
  readonly ignored: readonly (readonly string[])[];
}

function compare(recorded: unknown, now: unknown, path: readonly string[], comparison: Comparison): void {
  const { found, ignored } = comparison;
  if (found.length >= MAX_DIFFERENCES || ignored.some((pattern) => covers(pattern, path))) return;
  const [left, right] = [membersOf(recorded, now), membersOf(now, recorded)];
  if (left === undefined || right === undefined) {
    if (!same(recorded, now)) found.push({ path: path.join("."), recorded, now });
    return;
  }
  for (const name of new Set([...left.keys(), ...right.keys()]))
    compare(left.get(name), right.get(name), [...path, name], comparison);
}

/** True if the values are equal. A redacted part of the recorded value matches any text. */
function same(recorded: unknown, now: unknown): boolean {
  if (typeof recorded === "string" && (typeof now === "string" || typeof now === "number"))
    return matchesRedacted(recorded, String(now)) && (typeof now === "string" || recorded.includes("["));
  return recorded === now;
}

/**
 * Returns the members of an object or list, by name or index. Undefined unless both values are objects or both are
 * lists.
 */
function membersOf(value: unknown, other: unknown): Map<string, unknown> | undefined {
  if (isObject(value) && isObject(other)) return new Map(Object.entries(value));
  if (!Array.isArray(value) || !Array.isArray(other)) return undefined;
  const [names, others] = [namesOf(value), namesOf(other)];
  // Compares items by name if possible, so that a tool added in the middle of a list is a single difference.
  const keys = names !== undefined && others !== undefined ? names : value.map((_item, at) => String(at));
  return new Map(value.map((item: unknown, at) => [keys[at] ?? String(at), item]));
}

/** Returns the names of the items of a list. Undefined unless every item has a unique name. */
function namesOf(list: readonly unknown[]): string[] | undefined {
  const names = list.flatMap((item) => {
    if (!isObject(item)) return [];
    const name = item["name"] ?? item["uri"] ?? item["uriTemplate"];
    return typeof name === "string" ? [name] : [];
  });
  return names.length === list.length && new Set(names).size === names.length ? names : undefined;
}

function covers(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.length === path.length && pattern.every((part, at) => part === "*" || part === path[at]);
}
