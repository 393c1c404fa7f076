/** The operator of an expression; `""` is plain `{var}`. */
export type Operator = "" | "+" | "#" | "." | "/" | ";" | "?" | "&";

/** A variable of an expression. */
export interface TemplateVariable {
  /** The name of the variable. */
  readonly name: string;
  /** `{name*}`: the items of a list are separate values instead of one value with commas. */
  readonly explode: boolean;
  /** `{name:3}`: only the first 3 characters. */
  readonly prefix?: number;
}

/** Text that occurs in every URI. */
export interface Literal {
  /** Marks a literal. */
  readonly kind: "literal";
  /** The text, as in the template. */
  readonly text: string;
}

/** An expression with variables, in braces. */
export interface Expression {
  /** Marks an expression. */
  readonly kind: "expression";
  /** The operator after the opening brace; empty if there is none. */
  readonly operator: Operator;
  /** The variables, in order. */
  readonly variables: readonly TemplateVariable[];
}

/** A part of a URI template. */
export type TemplatePart = Literal | Expression;

/**
 * The error for a template that is invalid by RFC 6570 or too large. Its message contains the position and the fix.
 *
 * @example
 * ```ts
 * import { parseUriTemplate, UriTemplateError } from "@parley/mcp/protocol";
 *
 * try {
 *   parseUriTemplate("notes://{id");
 * } catch (error) {
 *   if (error instanceof UriTemplateError) console.error(`at ${error.position}: ${error.message}. ${error.fix}`);
 * }
 * ```
 */
export class UriTemplateError extends Error {
  /** The name of the class. */
  override readonly name = "UriTemplateError";
  /** Index in the template, in UTF-16 units. */
  readonly position: number;
  /** The change to make, in one sentence. */
  readonly fix: string;

  constructor(message: string, position: number, fix: string) {
    super(`${message} at position ${position}. ${fix}`);
    this.position = position;
    this.fix = fix;
  }
}

/**
 * Maximum length of a template in UTF-16 units, and maximum number of its variables. The cost of matching grows with
 * both. Larger templates are refused; real templates have tens of characters.
 */
const MAX_TEMPLATE_LENGTH = 8_192;
const MAX_VARIABLES = 128;

const OPERATORS = "+#./;?&";
/** RFC 6570 section 2.2: "reserved for possible future extensions". */
const RESERVED_OPERATORS = "=,!@|";
const VARIABLE =
  /^((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*)(?:(\*)|:([1-9][0-9]{0,3}))?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds.
const BAD_LITERAL = /[\u0000-\u001f\u007f}]|%(?![0-9A-Fa-f]{2})/;

/**
 * Splits a template into literals and expressions.
 *
 * Throws `UriTemplateError` for a template that is too large or not valid by RFC 6570.
 *
 * @example
 * ```ts
 * import { parseUriTemplate } from "@parley/mcp/protocol";
 *
 * const parts = parseUriTemplate("notes://{folder}/{id}");
 * ```
 */
export function parseUriTemplate(template: string): readonly TemplatePart[] {
  if (template.length > MAX_TEMPLATE_LENGTH) {
    throw new UriTemplateError(
      `The template is longer than ${MAX_TEMPLATE_LENGTH} characters`,
      MAX_TEMPLATE_LENGTH,
      "Shorten it; long data belongs in variables.",
    );
  }
  const parts: TemplatePart[] = [];
  let variables = 0;
  let position = 0;
  while (position < template.length) {
    const open = template.indexOf("{", position);
    const literalEnd = open === -1 ? template.length : open;
    if (literalEnd > position) parts.push(parseLiteral(template, position, literalEnd));
    if (open === -1) break;
    const close = template.indexOf("}", open);
    if (close === -1) throw new UriTemplateError("An expression is not closed", open, 'Add the missing "}".');
    const expression = parseExpression(template.slice(open + 1, close), open + 1);
    variables += expression.variables.length;
    if (variables > MAX_VARIABLES) {
      throw new UriTemplateError(`The template has more than ${MAX_VARIABLES} variables`, open, "Use fewer variables.");
    }
    parts.push(expression);
    position = close + 1;
  }
  return parts;
}

function parseLiteral(template: string, start: number, end: number): Literal {
  const text = template.slice(start, end);
  const bad = text.search(BAD_LITERAL);
  if (bad !== -1) {
    const character = text.charAt(bad);
    const fix =
      character === "}"
        ? 'Add the missing "{", or write %7D.'
        : character === "%"
          ? 'Write %25 for a percent sign, or two hexadecimal digits after "%".'
          : "Percent-encode it.";
    throw new UriTemplateError(`${JSON.stringify(character)} is not allowed outside an expression`, start + bad, fix);
  }
  return { kind: "literal", text };
}

function parseExpression(body: string, position: number): Expression {
  const first = body.charAt(0);
  if (first !== "" && RESERVED_OPERATORS.includes(first)) {
    throw new UriTemplateError(`The operator "${first}" is reserved`, position, `Use none, or one of ${OPERATORS}.`);
  }
  const operator = isOperator(first) ? first : "";
  const variables: TemplateVariable[] = [];
  let at = position + operator.length;
  for (const text of body.slice(operator.length).split(",")) {
    variables.push(parseVariable(text, at));
    at += text.length + 1;
  }
  return { kind: "expression", operator, variables };
}

function parseVariable(text: string, position: number): TemplateVariable {
  const match = VARIABLE.exec(text);
  const name = match?.[1];
  if (match === null || name === undefined) {
    const fix = text.includes(":")
      ? "Write a name, a colon and a length from 1 to 9999."
      : "Write letters, digits, _ and single dots, then nothing, * or :length; no spaces.";
    throw new UriTemplateError(`${JSON.stringify(text)} is not a variable`, position, fix);
  }
  const prefix = match[3];
  return { name, explode: match[2] !== undefined, ...(prefix === undefined ? {} : { prefix: Number(prefix) }) };
}

function isOperator(text: string): text is Operator {
  return text !== "" && OPERATORS.includes(text);
}

/**
 * The variables of a template, read from its string type.
 *
 * `"repo://{owner}/{name}{?page,tags*}"` gives `{ owner: string; name: string; page?: string; tags?: string[] }`. Plain
 * and `+` variables are required, because every match has them. All others are optional. If the literal type of the
 * template is unknown, the result is a plain record.
 */
export type TemplateVariables<T extends string> = string extends T
  ? Record<string, string | string[] | undefined>
  : // Expanded, so that the compiler shows the variables and not the types that compute them.
    RequiredVariables<Expressions<T>> & OptionalVariables<Expressions<T>> extends infer Both
    ? { [K in keyof Both]: Both[K] }
    : never;

/**
 * The bodies of all expressions, as a union. The accumulator makes the recursion a tail call, which allows 1,000
 * expressions.
 */
type Expressions<T extends string, Found = never> = T extends `${string}{${infer Body}}${infer Rest}`
  ? Expressions<Rest, Found | Body>
  : Found;

type OptionalOperator = "#" | "." | "/" | ";" | "?" | "&";

type RequiredList<Body> = Body extends `${OptionalOperator}${string}`
  ? never
  : Body extends `+${infer List}`
    ? List
    : Body;
type OptionalList<Body> = Body extends `${OptionalOperator}${infer List}` ? List : never;

type Items<List, Found = never> = List extends `${infer Head},${infer Rest}` ? Items<Rest, Found | Head> : Found | List;

type NameOf<Item> = Item extends `${infer Name}*` ? Name : Item extends `${infer Name}:${string}` ? Name : Item;
type ValueOf<Item> = Item extends `${string}*` ? string[] : string;

type RequiredVariables<Bodies> = {
  [Item in Items<RequiredList<Bodies>> & string as NameOf<Item> & string]: ValueOf<Item>;
};
type OptionalVariables<Bodies> = {
  [Item in Items<OptionalList<Bodies>> & string as NameOf<Item> & string]?: ValueOf<Item>;
};

/**
 * True if a decoded variable could escape the folder to which a handler appends it.
 *
 * That is the case for a `..` segment (also with the trailing dots or spaces that Windows drops), a backslash or a NUL.
 * Each may be plain or percent-encoded any number of times, because a handler may decode the value again. Dots inside a
 * name, as in `a..b`, are harmless.
 */
export function hasTraversal(value: string): boolean {
  const decoded = value.includes("%") ? decodeDangerous(value) : value;
  if (decoded.includes("\\") || decoded.includes("\u0000")) return true;
  return decoded.includes("..") && decoded.split("/").some((segment) => /^ *\.\.[. ]*$/.test(segment));
}

const DANGEROUS: Readonly<Record<string, string>> = { "2e": ".", "2f": "/", "5c": "\\", "00": "\u0000" };

function decodeDangerous(value: string): string {
  // "%25252e" becomes "%2e" after two decodings, so the first replacement removes every layer of encoding.
  return value
    .replace(/%(?:25)+/g, "%")
    .replace(/%(2e|2f|5c|00)/gi, (_, hex: string) => DANGEROUS[hex.toLowerCase()] ?? "");
}
