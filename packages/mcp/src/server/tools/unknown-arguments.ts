import { nearestName } from "../../encoding/nearest-name.js";
import { isObject } from "../../jsonrpc/message.js";
import type { JsonSchemaObject } from "../../schema/json-schema/json-schema.js";

/** The members that a schema names for the arguments, or for an object inside them. */
export interface KnownArguments {
  readonly names: ReadonlySet<string>;
  /** True when the schema refuses other members. */
  readonly closed: boolean;
  /** Members whose value, or whose list items, are objects with known members. */
  readonly inside: ReadonlyMap<string, KnownArguments>;
}

/** An argument that the schema does not name, and should be refused. */
export interface UnknownArgument {
  readonly path: string;
  readonly name: string;
  readonly nearest: string | undefined;
}

/** Keywords that may name members beside those in `properties`. */
const OPENERS = ["patternProperties", "allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "dependentSchemas"];
const MAX_DEPTH = 16;
const MOST_COMPARED = 10;
const MOST_NAMED = 20;
/** Names up to this length are alike too easily for a refusal. */
const SHORT = 2;

/** The known members of a schema; undefined when it says that it takes others too. */
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
 * The arguments that the schema does not name and that should be refused: by a closed schema all of them, by any other only
 * those that look like a misspelling of one that is absent, because some clients add arguments of their own.
 */
export function unknownArguments(known: KnownArguments, args: object): readonly UnknownArgument[] {
  const found = { unknown: [] as UnknownArgument[], compared: 0 };
  collect(known, args as Record<string, unknown>, "", found);
  return found.unknown;
}

interface Found {
  readonly unknown: UnknownArgument[];
  /** How many names were compared with the known ones, which is costly. */
  compared: number;
}

function collect(known: KnownArguments, args: Record<string, unknown>, path: string, found: Found): void {
  for (const name of Object.keys(args)) {
    if (known.names.has(name) || found.compared >= MOST_COMPARED) continue;
    found.compared++;
    const absent = [...known.names].filter((each) => !Object.hasOwn(args, each));
    const nearest = nearestName(name, absent);
    if (known.closed || (nearest !== undefined && name.length > SHORT)) found.unknown.push({ path, name, nearest });
  }
  for (const [name, below] of known.inside) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    const at = `${path}/${name}`;
    if (isObject(value)) collect(below, value, at, found);
    else if (Array.isArray(value)) {
      value.forEach((item: unknown, index) => {
        if (isObject(item)) collect(below, item, `${at}/${index}`, found);
      });
    }
  }
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
  if (!known.closed) return args;
  const entries = Object.entries(args);
  const kept = entries.filter(([name]) => known.names.has(name));
  // `fromEntries` defines members, so that one named "__proto__" stays an ordinary member.
  return kept.length === entries.length ? args : Object.fromEntries(kept);
}
