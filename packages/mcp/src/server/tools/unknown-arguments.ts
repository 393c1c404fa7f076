import { nearestName } from "../../encoding/nearest-name.js";
import { isObject } from "../../jsonrpc/message.js";
import type { JsonSchemaObject } from "../../schema/json-schema/json-schema.js";

/** The members that a schema names for the arguments, or for an object inside them. */
export interface KnownArguments {
  readonly names: ReadonlySet<string>;
  /** True if the schema refuses other members. */
  readonly closed: boolean;
  /** Members whose value, or whose list items, are objects with known members. */
  readonly inside: ReadonlyMap<string, KnownArguments>;
}

/** An argument that the schema does not name and that the server refuses. */
export interface UnknownArgument {
  readonly path: string;
  readonly name: string;
  readonly nearest: string | undefined;
}

/** Keywords that may name members in addition to those in `properties`. */
const OPENERS = ["patternProperties", "allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "dependentSchemas"];
/** Maximum depth of nested objects. The members of deeper objects are not checked. */
const MAX_DEPTH = 16;
/** Maximum number of unknown names in one call that are compared with the known names. Further ones are ignored. */
const MAX_COMPARED_NAMES = 10;
/** Maximum number of existing names that the text for the model lists. */
const MAX_LISTED_NAMES = 20;
/** Names up to this length are not refused as misspellings, because many short names differ in only one character. */
const SHORT_NAME_LENGTH = 2;

/**
 * Returns the members that a schema names. Undefined if the schema allows any other members, or may name members
 * outside `properties`.
 */
export function knownArguments(schema: unknown, depth = 0): KnownArguments | undefined {
  if (!isObject(schema) || depth > MAX_DEPTH) return undefined;
  const { properties = {}, additionalProperties } = schema as JsonSchemaObject;
  if (additionalProperties !== undefined && additionalProperties !== false) return undefined;
  if (OPENERS.some((keyword) => Object.hasOwn(schema, keyword)) || !isObject(properties)) return undefined;
  const inside = new Map<string, KnownArguments>();
  for (const [name, property] of Object.entries(properties)) {
    const item = isObject(property) && property["type"] === "array" ? property["items"] : property;
    const known = isObject(item) && item["type"] === "object" ? knownArguments(item, depth + 1) : undefined;
    if (known !== undefined) inside.set(name, known);
  }
  return { names: new Set(Object.keys(properties)), closed: additionalProperties === false, inside };
}

/**
 * Returns the unknown arguments that the server refuses. A closed schema refuses all of them. Other schemas only refuse
 * those that look like a misspelling of a missing argument, because some clients add arguments of their own.
 */
export function unknownArguments(known: KnownArguments, args: object): readonly UnknownArgument[] {
  const search = { unknown: [] as UnknownArgument[], compared: 0 };
  collect(known, args as Record<string, unknown>, "", search);
  return search.unknown;
}

interface UnknownSearch {
  readonly unknown: UnknownArgument[];
  /** Number of names compared with the known ones so far. Limited, because comparing is slow. */
  compared: number;
}

function collect(known: KnownArguments, args: Record<string, unknown>, path: string, search: UnknownSearch): void {
  for (const name of Object.keys(args)) {
    if (known.names.has(name) || search.compared >= MAX_COMPARED_NAMES) continue;
    search.compared++;
    const absent = [...known.names].filter((each) => !Object.hasOwn(args, each));
    const nearest = nearestName(name, absent);
    if (known.closed || (nearest !== undefined && name.length > SHORT_NAME_LENGTH))
      search.unknown.push({ path, name, nearest });
  }
  for (const [name, below] of known.inside) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    const at = `${path}/${name}`;
    if (isObject(value)) collect(below, value, at, search);
    else if (Array.isArray(value)) {
      value.forEach((item: unknown, index) => {
        if (isObject(item)) collect(below, item, `${at}/${index}`, search);
      });
    }
  }
}

/** Describes for the model the unknown arguments, the names that were probably meant, and the names that exist. */
export function describeUnknown(unknown: readonly UnknownArgument[], known: KnownArguments): string {
  const parts = unknown.map(({ path, name, nearest }) => {
    const where = path === "" ? "" : ` in ${path}`;
    return `unknown argument "${name}"${where}${nearest === undefined ? "" : ` (did you mean "${nearest}"?)`}`;
  });
  const names = [...known.names];
  const more = names.length > MAX_LISTED_NAMES ? ", …" : "";
  parts.push(
    names.length === 0 ? "it takes no arguments" : `it takes ${names.slice(0, MAX_LISTED_NAMES).join(", ")}${more}`,
  );
  return parts.join("; ");
}

/** Returns the arguments without those that a closed schema would refuse. */
export function withoutUnknown(known: KnownArguments, args: object): object {
  if (!known.closed) return args;
  const entries = Object.entries(args);
  const kept = entries.filter(([name]) => known.names.has(name));
  // `fromEntries` defines members, so "__proto__" is an ordinary member.
  return kept.length === entries.length ? args : Object.fromEntries(kept);
}
