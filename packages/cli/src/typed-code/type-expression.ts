/** A type as TypeScript writes it. */
export interface TypeExpression {
  readonly text: string;
  readonly kind: "unit" | "intersection" | "union";
  /** Alternatives that a compiler counts when it takes intersections of unions apart. */
  readonly width: number;
}

export const UNKNOWN: TypeExpression = unit("unknown");
export const NEVER: TypeExpression = unit("never");

/** Alternatives of an intersection; compilers refuse more than 100,000 and are slow long before. */
const MAX_ALTERNATIVES = 1_000;

/** A type that needs no parentheses. */
export function unit(text: string, width = 1): TypeExpression {
  return { text, kind: "unit", width };
}

/** A value of any of these types. */
export function unionOf(types: readonly TypeExpression[]): TypeExpression {
  const members = distinct(types).filter(({ text }) => text !== NEVER.text);
  const [first] = members;
  if (first === undefined) return NEVER;
  if (members.some(({ text }) => text === UNKNOWN.text)) return UNKNOWN;
  if (members.length === 1) return first;
  const width = members.reduce((sum, one) => sum + one.width, 0);
  return { text: members.map(({ text }) => text).join(" | "), kind: "union", width };
}

/** A value of all of these types. Where they have too many combinations, the widest says nothing. */
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

/** An array of a type. */
export function arrayOf(item: TypeExpression): TypeExpression {
  return unit(item.kind === "unit" ? `${item.text}[]` : `(${item.text})[]`);
}

/** An element of a tuple that may be missing, or the rest of one. */
export function optionalElement(item: TypeExpression): string {
  return item.kind === "unit" ? `${item.text}?` : `(${item.text})?`;
}

function product(types: readonly TypeExpression[]): number {
  return types.reduce((sum, { width }) => sum * width, 1);
}

function distinct(types: readonly TypeExpression[]): TypeExpression[] {
  return [...new Map(types.map((type) => [type.text, type])).values()];
}
