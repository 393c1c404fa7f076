import { memberName, stringLiteral } from "./source-literal.js";
import { arrayOf, type TypeExpression, UNKNOWN, unionOf, unit } from "./type-expression.js";

/** Alternatives of one `enum` that are written out; a longer one is only its kinds of values. */
const MOST_VALUES = 400;
const DEEPEST_VALUE = 6;
const MOST_ELEMENTS = 50;

/** The type of the values of an `enum`. */
export function enumType(values: readonly unknown[]): TypeExpression {
  return unionOf(values.map((value) => (values.length > MOST_VALUES ? kindOf(value) : literalType(value))));
}

/** The type of exactly one JSON value. */
export function literalType(value: unknown, depth = 0): TypeExpression {
  if (typeof value === "string") return unit(stringLiteral(value));
  if (value === null || typeof value === "boolean") return unit(String(value));
  if (typeof value === "number") return unit(Number.isFinite(value) ? String(value) : "number");
  if (typeof value !== "object" || depth > DEEPEST_VALUE) return UNKNOWN;
  const inner = (one: unknown) => literalType(one, depth + 1).text;
  if (Array.isArray(value))
    return value.length > MOST_ELEMENTS ? kindOf(value) : unit(`[${value.map(inner).join(", ")}]`);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  if (members.length > MOST_ELEMENTS) return kindOf(value);
  return unit(
    members.length === 0
      ? "{}"
      : `{ ${members.map(([name, one]) => `${memberName(name)}: ${inner(one)}`).join("; ")} }`,
  );
}

function kindOf(value: unknown): TypeExpression {
  if (value === null) return unit("null");
  if (Array.isArray(value)) return arrayOf(UNKNOWN);
  return unit(typeof value === "object" ? "{ [key: string]: unknown }" : typeof value);
}
