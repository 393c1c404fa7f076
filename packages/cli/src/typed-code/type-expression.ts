/** A TypeScript type as text. */
export interface TypeExpression {
  readonly text: string;
  readonly kind: "unit" | "intersection" | "union";
  /** The number of alternatives that a compiler has to combine if the type is part of an intersection. */
  readonly width: number;
}

export const UNKNOWN: TypeExpression = unit("unknown");
export const NEVER: TypeExpression = unit("never");

/**
 * Maximum number of alternatives of an intersection. Beyond it, `intersectionOf` drops types, because compilers reject
 * more than 100,000 alternatives and become slow long before.
 */
const MAX_ALTERNATIVES = 1_000;

/** A type that needs no parentheses. */
export function unit(text: string, width = 1): TypeExpression {
  return { text, kind: "unit", width };
}

/** The union of these types. */
export function unionOf(types: readonly TypeExpression[]): TypeExpression {
  const members = distinct(types).filter(({ text }) => text !== NEVER.text);
  const [first] = members;
  if (first === undefined) return NEVER;
  if (members.some(({ text }) => text === UNKNOWN.text)) return UNKNOWN;
  if (members.length === 1) return first;
  const width = members.reduce((sum, one) => sum + one.width, 0);
  return { text: members.map(({ text }) => text).join(" | "), kind: "union", width };
}

/** The intersection of these types. Drops the widest type as long as the number of combinations exceeds the limit. */
export function intersectionOf(types: readonly TypeExpression[]): TypeExpression {
  let members = distinct(types).filter(({ text }) => text !== UNKNOWN.text);
  if (members.some(({ text }) => text === NEVER.text)) return NEVER;
  while (members.length > 1 && product(members) > MAX_ALTERNATIVES) {
    const widest = Math.max(...members.map(({ width }) => width));
    const at = members.findIndex(({ width }) => width === widest);
    members = members.filter((_, index) => index !== at);
  }
  const [first] = members;
  if (first === undefined) return UNKNOWN;
  if (members.length === 1) return first;
  const text = members.map((one) => (one.kind === "union" ? `(${one.text})` : one.text)).join(" & ");
  return { text, kind: "intersection", width: product(members) };
}

/** An array of `item`. */
export function arrayOf(item: TypeExpression): TypeExpression {
  return unit(item.kind === "unit" ? `${item.text}[]` : `(${item.text})[]`);
}

/** An optional element of a tuple. */
export function optionalElement(item: TypeExpression): string {
  return item.kind === "unit" ? `${item.text}?` : `(${item.text})?`;
}

function product(types: readonly TypeExpression[]): number {
  return types.reduce((sum, { width }) => sum * width, 1);
}

function distinct(types: readonly TypeExpression[]): TypeExpression[] {
  return [...new Map(types.map((type) => [type.text, type])).values()];
}
