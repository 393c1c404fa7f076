import { nearestName } from "../../encoding/nearest-name.js";
import { isObject } from "../../jsonrpc/message.js";
import type { JsonSchemaObject } from "../../schema/json-schema.js";

/** The members that a schema names for the arguments, or for an object inside them. */
export interface KnownArguments {
  readonly names: ReadonlySet<string>;
  /** True when the schema refuses other members; false when that depends on its library. */
  readonly closed: boolean;
  /** Members whose value, or whose list items, are objects with known members. */
  readonly inside: ReadonlyMap<string, Inside>;
}

interface Inside {
  readonly known: KnownArguments;
  readonly list: boolean;
}

/** An argument that the schema does not have. */
export interface UnknownArgument {
  readonly path: string;
  readonly name: string;
  readonly nearest: string | undefined;
}

/** Keywords that may allow members beside those in `properties`. */
const OPENERS = ["patternProperties", "allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "dependentSchemas"];
const MAX_DEPTH = 16;
const MOST_REPORTED = 10;
const MOST_NAMED = 20;

/**
 * The known members of a schema; undefined when it takes any member. JSON Schema takes any member by default and passes it
 * on. Libraries often drop unknown members silently, which shows only in the parsed value.
 */
export function knownArguments(schema: unknown, byLibrary: boolean, depth = 0): KnownArguments | undefined {
  if (!isObject(schema) || depth > MAX_DEPTH) return undefined;
  const { properties = {}, additionalProperties } = schema as JsonSchemaObject;
  const closed = additionalProperties === false;
  if (!closed && !(byLibrary && additionalProperties === undefined)) return undefined;
  if (OPENERS.some((keyword) => Object.hasOwn(schema, keyword)) || !isObject(properties)) return undefined;
  const inside = new Map<string, Inside>();
  for (const [name, property] of Object.entries(properties)) {
    const items = isObject(property) && property["type"] === "array" ? property["items"] : undefined;
    const known = knownArguments(items ?? property, byLibrary, depth + 1);
    const isObjectSchema = isObject(items ?? property) && ((items ?? property) as JsonSchemaObject).type === "object";
    if (known !== undefined && isObjectSchema) inside.set(name, { known, list: items !== undefined });
  }
  return { names: new Set(Object.keys(properties)), closed, inside };
}

/** The arguments that neither the schema nor the parsed value has. `parsed` is undefined when parsing failed. */
export function unknownArguments(known: KnownArguments, args: object, parsed: unknown): readonly UnknownArgument[] {
  const unknown: UnknownArgument[] = [];
  collect(known, args as Record<string, unknown>, parsed, "", unknown);
  return unknown;
}

function collect(
  known: KnownArguments,
  args: Record<string, unknown>,
  parsed: unknown,
  path: string,
  unknown: UnknownArgument[],
): void {
  for (const name of Object.keys(args)) {
    if (known.names.has(name)) continue;
    if (!known.closed && isObject(parsed) && Object.hasOwn(parsed, name)) continue;
    if (unknown.length < MOST_REPORTED) unknown.push({ path, name, nearest: nearestName(name, missing(known, args)) });
  }
  for (const [name, { known: below, list }] of known.inside) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    const parsedValue = isObject(parsed) && Object.hasOwn(parsed, name) ? parsed[name] : undefined;
    if (!list && isObject(value)) collect(below, value, parsedValue, `${path}/${name}`, unknown);
    if (list && Array.isArray(value)) {
      value.forEach((item: unknown, index) => {
        const parsedItem = Array.isArray(parsedValue) ? (parsedValue[index] as unknown) : undefined;
        if (isObject(item)) collect(below, item, parsedItem, `${path}/${name}/${index}`, unknown);
      });
    }
  }
}

/** The names to suggest: those that are not in the arguments yet. */
function missing(known: KnownArguments, args: object): string[] {
  return [...known.names].filter((name) => !Object.hasOwn(args, name));
}

/** Tells the model which arguments are unknown, which names were probably meant, and which names exist. */
export function describeUnknown(unknown: readonly UnknownArgument[], known: KnownArguments): string {
  const parts = unknown.map(({ path, name, nearest }) => {
    const where = path === "" ? "" : ` in ${path}`;
    return `unknown argument "${name}"${where}${nearest === undefined ? "" : ` (did you mean "${nearest}"?)`}`;
  });
  const names = [...known.names];
  const more = names.length > MOST_NAMED ? ", …" : "";
  parts.push(names.length === 0 ? "it takes no arguments" : `it takes ${names.slice(0, MOST_NAMED).join(", ")}${more}`);
  return parts.join("; ");
}

/** The arguments without those that a closed schema would refuse. */
export function withoutUnknown(known: KnownArguments, args: object): object {
  const entries = Object.entries(args);
  const kept = entries.filter(([name]) => known.names.has(name));
  // `fromEntries` defines members, so that one named "__proto__" stays an ordinary member.
  return kept.length === entries.length ? args : Object.fromEntries(kept);
}
