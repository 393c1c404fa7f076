import type { Shape, ShapeMember, SimpleType } from "./shape.js";

const SIMPLE: ReadonlySet<string> = new Set<SimpleType>([
  "string",
  "number",
  "integer",
  "boolean",
  "null",
  "uri",
  "uriTemplate",
  "base64",
]);
const TOKEN = /\s*("[^"]*"|-?\d+(?:\.\d+)?(?!\w)|[\w$]+|\.\.|[[\]{}()<>|&;:?*])/y;

/**
 * Parses the notation of the shape tables. Throws `SyntaxError` for anything else.
 *
 * The notation resembles TypeScript types:
 *
 * - `{ a: string; b?: Name[]; *: T }` is an object. `*` is the type of all other members. Without `*`, other members may
 *   have any value.
 * - `A | B` is a union, and `A & B` is an intersection.
 * - `T[100]` is an array of at most 100 items, and `number<0..1>` is a number from 0 to 1.
 * - `uri`, `uriTemplate` and `base64` are strings in these formats.
 */
export function parseShape(text: string): Shape {
  const tokens = new Tokens(text);
  const shape = union(tokens);
  tokens.expectEnd();
  return shape;
}

class Tokens {
  readonly #tokens: string[] = [];
  #at = 0;

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    for (let at = 0; text.slice(at).trim() !== ""; at = TOKEN.lastIndex) {
      const token = TOKEN.exec(text)?.[1];
      if (token === undefined) throw new SyntaxError(`unknown notation: ${text.slice(at, at + 20)}`);
      this.#tokens.push(token);
    }
  }

  accept(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  expect(token: string): void {
    if (!this.accept(token))
      throw new SyntaxError(`expected ${token} instead of ${this.#tokens[this.#at] ?? "the end"}`);
  }

  next(): string {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new SyntaxError("unexpected end of the notation");
    return token;
  }

  expectEnd(): void {
    if (this.#at < this.#tokens.length) throw new SyntaxError(`${this.#tokens[this.#at]} is unexpected`);
  }
}

function union(tokens: Tokens): Shape {
  return combined(tokens, "union", "|", (each) => combined(each, "both", "&", array));
}

function combined(tokens: Tokens, kind: "union" | "both", sign: string, part: (tokens: Tokens) => Shape): Shape {
  const first = part(tokens);
  const parts = [first];
  while (tokens.accept(sign)) parts.push(part(tokens));
  return parts.length === 1 ? first : { kind, parts };
}

function array(tokens: Tokens): Shape {
  let shape = single(tokens);
  while (tokens.accept("[")) {
    if (tokens.accept("]")) {
      shape = { kind: "array", items: shape };
      continue;
    }
    shape = { kind: "array", items: shape, most: Number(tokens.next()) };
    tokens.expect("]");
  }
  return shape;
}

function single(tokens: Tokens): Shape {
  const token = tokens.next();
  if (token === "(") {
    const shape = union(tokens);
    tokens.expect(")");
    return shape;
  }
  if (token === "{") return object(tokens);
  if (token === "object") return { kind: "object", members: new Map() };
  if (token === "unknown") return { kind: "unknown" };
  if (isSimpleType(token)) return { kind: "simple", type: token, ...limits(tokens) };
  if (token.startsWith('"')) return { kind: "literal", value: token.slice(1, -1) };
  if (/^-?\d/.test(token)) return { kind: "literal", value: Number(token) };
  if (/^\w/.test(token)) return { kind: "named", name: token };
  throw new SyntaxError(`${token} does not begin a shape`);
}

function isSimpleType(token: string): token is SimpleType {
  return SIMPLE.has(token);
}

function limits(tokens: Tokens): { least?: number; most?: number } {
  if (!tokens.accept("<")) return {};
  const found: { least?: number; most?: number } = {};
  if (!tokens.accept("..")) {
    found.least = Number(tokens.next());
    tokens.expect("..");
  }
  if (tokens.accept(">")) return found;
  found.most = Number(tokens.next());
  tokens.expect(">");
  return found;
}

function object(tokens: Tokens): Shape {
  const members = new Map<string, ShapeMember>();
  let others: Shape | undefined;
  do {
    const token = tokens.next();
    const optional = tokens.accept("?");
    tokens.expect(":");
    const shape = union(tokens);
    if (token === "*") others = shape;
    else members.set(token.startsWith('"') ? token.slice(1, -1) : token, { shape, optional });
  } while (tokens.accept(";"));
  tokens.expect("}");
  return { kind: "object", members, ...(others === undefined ? {} : { others }) };
}
