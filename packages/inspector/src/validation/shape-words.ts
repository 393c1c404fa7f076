import { printableLine } from "@parley/mcp/protocol";
import type { SchemaDefinitions } from "./schema-definitions.js";
import { jsonKindOf, type Shape, type SimpleType } from "./shape.js";

/** Maximum length of a value in a problem, in characters. Longer values are truncated. */
const MAX_VALUE_LENGTH = 60;

const SIMPLE_WORDS: Readonly<Record<SimpleType, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "a boolean",
  null: "null",
  uri: "a URI",
  uriTemplate: "a URI template",
  base64: "Base64 with its padding",
};

/** Describes the values that a shape allows, for the end of a sentence: `a string or an integer`. */
export function shapeInWords(definitions: SchemaDefinitions, shape: Shape): string {
  return joinWithOr([...new Set(demands(definitions, shape))]);
}

/** Describes a value, for the beginning of a sentence: `is the string "yes"`. */
export function describeValue(value: unknown): string {
  const kind = jsonKindOf(value);
  switch (kind) {
    case "string":
      return `is the string ${quoted(String(value))}`;
    case "number":
      return `is the number ${value}`;
    case "boolean":
    case "null":
      return `is ${value}`;
    case "none":
      return "is not a JSON value";
    default:
      return `is an ${kind}`;
  }
}

/** Quotes a text of a peer, truncated and without control characters. */
export function quoted(text: string): string {
  const shown = text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
  return printableLine(JSON.stringify(shown));
}

/** Joins words: `a`, `a or b`, `a, b or c`. */
export function joinWithOr(words: readonly string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function demands(definitions: SchemaDefinitions, shape: Shape): string[] {
  switch (shape.kind) {
    case "unknown":
      return ["a value"];
    case "simple":
      return [`${SIMPLE_WORDS[shape.type]}${range(shape)}`];
    case "literal":
      return [JSON.stringify(shape.value)];
    case "array":
      return ["an array"];
    case "object":
    case "both":
      return ["an object"];
    case "union":
      return shape.parts.flatMap((part) => demands(definitions, part));
    case "named":
      return demands(definitions, definitions.resolve(shape));
  }
}

function range({ least, most }: { readonly least?: number; readonly most?: number }): string {
  if (least !== undefined && most !== undefined) return ` from ${least} to ${most}`;
  if (least !== undefined) return ` of at least ${least}`;
  return most === undefined ? "" : ` of at most ${most}`;
}
