import type { SchemaDefinitions } from "./schema-definitions.js";
import type { JsonKind, ObjectShape, Shape, ShapeMember } from "./shape.js";

/** One alternative of a union, with the definition that it comes from. */
export interface UnionChoice {
  readonly definition: string;
  /** A shape that is neither a name nor a union. */
  readonly shape: Shape;
  readonly kinds: ReadonlySet<JsonKind>;
  /** The members of an object. Empty for other types. */
  readonly members: ReadonlyMap<string, ShapeMember>;
}

/** The flattened alternatives of a union. */
export interface UnionChoices {
  readonly choices: readonly UnionChoice[];
  /** Members that distinguish the objects of the union, with the values that each choice allows. */
  readonly tags: ReadonlyMap<string, ReadonlyMap<UnionChoice, readonly (string | number)[]>>;
}

type Union = Extract<Shape, { kind: "union" }>;

// Each shape belongs to one revision, so its names always resolve to the same definitions. The shape alone can
// therefore be the key.
const known = new WeakMap<Union, UnionChoices>();

/** Returns the choices of a union. They are cached, because large lists use the same union many times. */
export function choicesOf(definitions: SchemaDefinitions, definition: string, union: Union): UnionChoices {
  const cached = known.get(union);
  if (cached !== undefined) return cached;
  const choices = flatten(definitions, definition, union);
  const found = { choices, tags: tagsOf(definitions, choices) };
  known.set(union, found);
  return found;
}

function flatten(definitions: SchemaDefinitions, definition: string, shape: Shape): UnionChoice[] {
  if (shape.kind === "named") return flatten(definitions, shape.name, definitions.shape(shape.name));
  if (shape.kind === "union") return shape.parts.flatMap((part) => flatten(definitions, definition, part));
  return [{ definition, shape, kinds: kindsOf(shape), members: membersOf(definitions, shape) }];
}

function kindsOf(shape: Shape): ReadonlySet<JsonKind> {
  switch (shape.kind) {
    case "array":
      return new Set(["array"]);
    case "object":
    case "both":
      return new Set(["object"]);
    case "literal":
      return new Set([typeof shape.value === "string" ? "string" : "number"]);
    case "simple":
      if (shape.type === "integer") return new Set(["number"]);
      if (shape.type === "number" || shape.type === "boolean" || shape.type === "null") return new Set([shape.type]);
      return new Set(["string"]);
    default:
      return new Set(["string", "number", "boolean", "null", "array", "object"]);
  }
}

function membersOf(definitions: SchemaDefinitions, shape: Shape): ReadonlyMap<string, ShapeMember> {
  const resolved = definitions.resolve(shape);
  if (resolved.kind === "object") return (resolved satisfies ObjectShape).members;
  if (resolved.kind !== "both") return new Map();
  return new Map(resolved.parts.flatMap((part) => [...membersOf(definitions, part)]));
}

/**
 * Finds the tags of a union: members that every object choice has, and for which each choice allows only literal
 * values. The values must differ between at least two choices.
 */
function tagsOf(definitions: SchemaDefinitions, choices: readonly UnionChoice[]): UnionChoices["tags"] {
  const objects = choices.filter((choice) => choice.kinds.has("object"));
  const tags = new Map<string, Map<UnionChoice, readonly (string | number)[]>>();
  for (const key of objects[0]?.members.keys() ?? []) {
    const values = new Map<UnionChoice, readonly (string | number)[]>();
    for (const choice of objects) {
      const member = choice.members.get(key);
      const literals = member === undefined ? undefined : literalsOf(definitions, member.shape);
      if (literals !== undefined) values.set(choice, literals);
    }
    if (values.size < objects.length || new Set([...values.values()].map(String)).size < 2) continue;
    tags.set(key, values);
  }
  return tags;
}

function literalsOf(definitions: SchemaDefinitions, shape: Shape): (string | number)[] | undefined {
  const resolved = definitions.resolve(shape);
  if (resolved.kind === "literal") return [resolved.value];
  if (resolved.kind !== "union") return undefined;
  const all = resolved.parts.map((part) => literalsOf(definitions, part));
  return all.every((each) => each !== undefined) ? all.flat() : undefined;
}
