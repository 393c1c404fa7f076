import { BEYOND_ASCII, type MatchElement, type ValueElement } from "./match-element.js";
import { UriTemplateError } from "./parse.js";

/** The code for the end of a text. */
export const END = BEYOND_ASCII + 1;
const CODES = END + 1;

/** A 32-bit number has one bit for each element and one for the end. */
const MAX_ELEMENTS = 31;

/**
 * A template as bits: bit `k` stands for element `k`, and the bit after the last element for the end, so that one step
 * of the matcher advances all elements at once.
 */
export interface MatchProgram {
  readonly elements: readonly MatchElement[];
  /** Values without a lead. */
  readonly plain: number;
  /** Optional elements. */
  readonly optional: number;
  /** By code: elements that may continue over this character. */
  readonly accepts: Int32Array;
  /** By code: elements that have this character as their lead. */
  readonly leads: Int32Array;
  /** Elements that match any number of characters and end wherever the rest matches. */
  readonly runs: number;
  /** By code: literals that consist of this character. */
  readonly single: Int32Array;
  /** By code: longer literals that begin with this character. */
  readonly literals: readonly (readonly LiteralAt[] | undefined)[];
  /** Values with a maximum length; they are counted one by one and have no bits in `plain`, `leads` and `runs`. */
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

/** Throws `UriTemplateError` if the template has more parts than a number has bits. */
export function matchProgram(elements: readonly MatchElement[]): MatchProgram {
  if (elements.length > MAX_ELEMENTS) {
    throw new UriTemplateError(
      `The template has more than ${MAX_ELEMENTS} parts to match`,
      0,
      "Use fewer variables, or put several into one query expression, which counts as one part.",
    );
  }
  const isLimited = (element: MatchElement) => element.kind === "value" && Number.isFinite(element.longest);
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

/** Whether the element is one ASCII character; all other characters share one code. */
function isSingle(element: MatchElement): boolean {
  return element.kind === "literal" && element.text.length === 1 && firstCode(element) < BEYOND_ASCII;
}

function firstCode(element: MatchElement): number {
  return element.kind === "literal" ? Math.min(element.text.charCodeAt(0), BEYOND_ASCII) : -1;
}
