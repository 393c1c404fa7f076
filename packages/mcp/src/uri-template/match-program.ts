import { normalizeUri, upperCaseTriplets } from "./normalize.js";
import { type Expression, type TemplatePart, type TemplateVariable, UriTemplateError } from "./parse.js";

/** The code that all non-ASCII characters share. Every character set contains it. */
export const BEYOND_ASCII = 128;
/** The code for the end of a text. */
export const END = BEYOND_ASCII + 1;
const CODES = END + 1;

/**
 * Maximum number of elements: a 32-bit number has one bit for each element and one for the end. Longer templates are
 * refused.
 */
const MAX_ELEMENTS = 31;

/**
 * A template as bits: bit `k` stands for element `k`, and the bit after the last element for the end. One step of the
 * matcher thus advances all elements at once.
 */
export interface MatchProgram {
  readonly elements: readonly MatchElement[];
  /** Values without a lead and without a maximum length. */
  readonly plain: number;
  /** Optional elements, that is, elements with a lead. */
  readonly optional: number;
  /** By code: elements that may continue over a character with this code. */
  readonly accepts: Int32Array;
  /** By code: elements whose lead has this code, except limited values. */
  readonly leads: Int32Array;
  /** Elements that match any number of characters and end wherever the rest matches. */
  readonly runs: number;
  /** By code: literals that consist only of the character with this code. */
  readonly single: Int32Array;
  /** By code: longer literals that begin with a character of this code. */
  readonly literals: readonly (readonly LiteralAt[] | undefined)[];
  /** Values with a maximum length. They are counted one by one, and have no bits in `plain`, `leads` and `runs`. */
  readonly limited: readonly LimitedAt[];
}

interface LiteralAt {
  readonly index: number;
  readonly text: string;
}

interface LimitedAt {
  readonly index: number;
  readonly element: ValueElement;
}

/** Compiles the elements. Throws `UriTemplateError` if there are more than `MAX_ELEMENTS`. */
export function matchProgram(elements: readonly MatchElement[]): MatchProgram {
  if (elements.length > MAX_ELEMENTS) {
    throw new UriTemplateError(
      `The template has more than ${MAX_ELEMENTS} parts to match`,
      0,
      "Use fewer variables, or put several into one query expression, which counts as one part.",
    );
  }
  const isLimited = (element: MatchElement) => element.kind === "value" && Number.isFinite(element.maxLength);
  const bits = (has: (element: MatchElement) => boolean) =>
    elements.reduce((bits, element, index) => (has(element) ? bits | (1 << index) : bits), 0);
  const byCode = (has: (element: Exclude<MatchElement, { kind: "literal" }>, code: number) => boolean) =>
    Int32Array.from({ length: CODES }, (_, code) =>
      bits((element) => element.kind !== "literal" && has(element, code)),
    );
  return {
    elements,
    plain: bits((element) => element.kind !== "literal" && element.lead === -1 && !isLimited(element)),
    optional: bits((element) => element.kind !== "literal" && element.lead !== -1),
    accepts: byCode((element, code) => element.accepts[code] === 1),
    leads: byCode((element, code) => element.lead === code && !isLimited(element)),
    runs: bits((element) => element.kind !== "literal" && !isLimited(element)),
    single: Int32Array.from({ length: CODES }, (_, code) =>
      bits((element) => isSingle(element) && firstCode(element) === code),
    ),
    literals: Array.from({ length: CODES }, (_, code) => {
      const atCode = elements.flatMap((element, index) =>
        element.kind === "literal" && !isSingle(element) && firstCode(element) === code
          ? [{ index, text: element.text }]
          : [],
      );
      return atCode.length === 0 ? undefined : atCode;
    }),
    limited: elements.flatMap((element, index) =>
      element.kind === "value" && isLimited(element) ? [{ index, element }] : [],
    ),
  };
}

/**
 * True if the element is a literal of one ASCII character. Non-ASCII characters share one code, so their text must be
 * compared.
 */
function isSingle(element: MatchElement): boolean {
  return element.kind === "literal" && element.text.length === 1 && firstCode(element) < BEYOND_ASCII;
}

function firstCode(element: MatchElement): number {
  return element.kind === "literal" ? Math.min(element.text.charCodeAt(0), BEYOND_ASCII) : -1;
}

/** Text that must occur exactly. */
export interface LiteralElement {
  readonly kind: "literal";
  readonly text: string;
}

/** One variable: a run of accepted characters, after the `lead` character if the element has one. */
export interface ValueElement {
  readonly kind: "value";
  readonly variable: TemplateVariable;
  /**
   * Character code of the lead, or -1 if there is none. An element with a lead is optional, and its value may be empty.
   */
  readonly lead: number;
  /** The text between the items of an exploded list. */
  readonly separator: string;
  readonly accepts: CharacterSet;
  /** The characters that are not accepted. */
  readonly stops: string;
  /** Maximum length of the value in characters. Infinity if the value is not limited. */
  readonly maxLength: number;
}

/** `{?a,b}`, `{&a,b}` or `{;a,b}`. The element is optional and matches any of its parameters in any order. */
export interface NamedElement {
  readonly kind: "named";
  readonly lead: number;
  readonly separator: string;
  readonly accepts: CharacterSet;
  readonly stops: string;
}

export type MatchElement = LiteralElement | ValueElement | NamedElement;

/** A set of character codes. The array has a 1 at each code in the set. */
export type CharacterSet = Uint8Array;

/** Converts the parts of a template to the elements that the matcher works on. */
export function matchElements(parts: readonly TemplatePart[]): MatchElement[] {
  return parts.flatMap((part, index): MatchElement[] => {
    if (part.kind === "literal")
      return [{ kind: "literal", text: upperCaseTriplets(normalizeUri(part.text) ?? part.text) }];
    const before = parts.slice(0, index);
    const after = parts.slice(index + 1);
    const inQuery = before.some((other) => begins("?", other));
    // The characters that end a value here unless they are encoded. Values accept other reserved characters unencoded,
    // because handwritten URIs contain them.
    const ends = inQuery ? "&#" : "/?#";
    if (part.operator !== "+") return expressionElements(part, ends);
    // The first "?" of a URI begins its query and the first "#" its fragment (RFC 3986, 3). The value of `{+path}`
    // therefore ends there if the template continues with a query or fragment.
    const hasQuery = !inQuery && after.some((other) => begins("?", other));
    return expressionElements(part, hasQuery ? "?#" : after.some((other) => begins("#", other)) ? "#" : "");
  });
}

function begins(character: "?" | "#", part: TemplatePart): boolean {
  return part.kind === "literal" ? part.text.includes(character) : part.operator === character;
}

function expressionElements({ operator, variables }: Expression, ends: string): MatchElement[] {
  switch (operator) {
    case "?":
    case "&":
      return [named(operator, "&", "#")];
    case ";":
      return [named(";", ";", "/?#")];
    case "/":
    case ".":
      return variables.map((variable) => {
        // A dot is not a reserved character, so it ends a value only if the expression has several variables.
        const isBorder = operator === "/" ? !variable.explode : variables.length > 1 && !variable.explode;
        const others = ends.replace(operator, "");
        return value(variable, code(operator), operator, isBorder ? others + operator : others);
      });
    case "#":
      return variables.map((variable, index) => value(variable, code(index === 0 ? "#" : ","), ",", ""));
    case "+":
    case "": {
      const isBorder = variables.length > 1 && operator === "";
      return variables.flatMap((variable, index) => {
        const element = value(variable, -1, ",", isBorder && !variable.explode ? `${ends},` : ends);
        return index === 0 ? [element] : [{ kind: "literal", text: "," } as const, element];
      });
    }
  }
}

function value(variable: TemplateVariable, lead: number, separator: string, stops: string): ValueElement {
  const maxLength = variable.prefix ?? Number.POSITIVE_INFINITY;
  return { kind: "value", variable, lead, separator, accepts: allBut(stops), stops, maxLength };
}

function named(lead: string, separator: string, stops: string): NamedElement {
  return { kind: "named", lead: code(lead), separator, accepts: allBut(stops), stops };
}

function allBut(stops: string): CharacterSet {
  const set = new Uint8Array(BEYOND_ASCII + 1).fill(1);
  for (const character of stops) set[code(character)] = 0;
  return set;
}

function code(character: string): number {
  return character.charCodeAt(0);
}
