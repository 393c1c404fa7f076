import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";

/** A value of the type that a schema requires, or the reason why the text has another type. */
export type ParsedValue = { readonly value: unknown } | { readonly problem: string };

/**
 * Maximum number of references to follow, and maximum nesting of alternatives, because a schema may refer to itself.
 * Beyond this limit, the schema counts as a schema without types.
 */
const MAX_DEPTH = 8;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/**
 * Parses a text by the types that `schema` allows: null, boolean, number, or JSON for objects and arrays. Returns the
 * text itself if the schema allows strings or names no type. If the schema allows only arrays, a text that is not a
 * JSON array becomes the only element of an array.
 */
export function typedValue(text: string, schema: unknown, root: unknown = schema): ParsedValue {
  const types = typesOf(schema, root);
  const trimmed = text.trim();
  if (types.has("null") && trimmed === "null") return { value: null };
  if (types.has("boolean") && /^(?:true|false)$/.test(trimmed)) return { value: trimmed === "true" };
  if (types.has("number") && NUMBER.test(trimmed)) return { value: Number(trimmed) };
  if (types.has("integer") && NUMBER.test(trimmed) && Number.isInteger(Number(trimmed))) {
    return { value: Number(trimmed) };
  }
  const wantsList = types.has("array");
  if ((types.has("object") && trimmed.startsWith("{")) || (wantsList && trimmed.startsWith("["))) {
    const parsed = parseJson(text);
    if ("value" in parsed || !types.has("string")) return parsed;
  }
  if (types.size === 0 || types.has("string")) return { value: text };
  if (wantsList) {
    const item = typedValue(text, memberOf(resolveSchema(schema, root), "items"), root);
    return "value" in item ? { value: [item.value] } : item;
  }
  return { problem: `not ${[...types].map(nameOfType).join(" or ")}` };
}

/** Parses JSON. The problem names the position, without quoting the text. */
export function parseJson(text: string): ParsedValue {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { problem: `not valid JSON${jsonProblem(text)}` };
  }
}

function jsonProblem(text: string): string {
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: true });
  const [first] = errors;
  if (first === undefined) return "";
  const before = text.slice(0, first.offset).split("\n");
  const words = printParseErrorCode(first.error).replace(/(?!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `: line ${before.length}, column ${(before.at(-1) ?? "").length + 1}: ${words[0]?.toLowerCase()}${words.slice(1)}`;
}

/** The types that a schema allows. Empty if the schema names none. */
export function typesOf(schema: unknown, root: unknown, depth = 0): ReadonlySet<string> {
  const found = new Set<string>();
  if (depth > MAX_DEPTH) return found;
  const own = resolveSchema(schema, root);
  const type = memberOf(own, "type");
  for (const one of Array.isArray(type) ? type : [type]) if (typeof one === "string") found.add(one);
  if (found.size > 0) return found;
  const known = [memberOf(own, "const"), ...listOf(memberOf(own, "enum"))].filter((value) => value !== undefined);
  for (const value of known) found.add(typeOf(value));
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    for (const one of listOf(memberOf(own, key))) for (const inner of typesOf(one, root, depth + 1)) found.add(inner);
  }
  return found;
}

/**
 * Follows local references of a schema. Returns a schema without a reference unchanged, and undefined after `MAX_DEPTH`
 * references.
 */
export function resolveSchema(schema: unknown, root: unknown): unknown {
  let at = schema;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const reference = memberOf(at, "$ref");
    if (typeof reference !== "string" || !reference.startsWith("#/")) return at;
    at = reference
      .slice(2)
      .split("/")
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>(memberOf, root);
  }
  return undefined;
}

/** An own member of an object, or an element of an array. */
export function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

/** The array, or an empty one for any other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** The name of a JSON type in a sentence. */
export function nameOfType(type: string): string {
  const names: Record<string, string> = {
    integer: "a whole number",
    boolean: "true or false",
    object: "a JSON object",
    array: "a JSON array",
    null: "null",
  };
  return (Object.hasOwn(names, type) ? names[type] : undefined) ?? `a ${type}`;
}
