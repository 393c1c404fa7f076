import { BEYOND_ASCII, type MatchElement, type ValueElement } from "./match-element.js";
import { UriTemplateError } from "./parse.js";

/** The code at the end of a text, where no character is. */
export const END = BEYOND_ASCII + 1;
const CODES = END + 1;

/** One bit of a 32-bit number for each element, and one for the end. */
const MAX_ELEMENTS = 31;

/**
 * A template as bits: bit `k` stands for element `k`, and the bit after the last element for the end. So one step of the
 * matcher moves all elements at once.
 */
export interface MatchProgram {
  readonly elements: readonly MatchElement[];
  /** Values that begin without a lead. */
  readonly plain: number;
  /** Elements that may be absent. */
  readonly optional: number;
  /** By code: elements that may go on over this character. */
  readonly accepts: Int32Array;
  /** By code: elements that this character introduces. */
  readonly leads: Int32Array;
  /** Elements that run over any number of characters and end wherever the rest matches. */
  readonly runs: number;
  /** By code: literals that are this character. */
  readonly single: Int32Array;
  /** By code: longer literals that begin with this character. */
  readonly literals: readonly (readonly LiteralAt[] | undefined)[];
  /** Values with a longest length; they are counted one by one and have no bits in `plain`, `leads` and `runs`. */
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

/** Throws `UriTemplateError` where the template has more parts than a number has bits. */
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
    elements.reduce((found, element, index) => (has(element) ? found | (1 << index) : found), 0);
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
      const found = elements.flatMap((element, index) =>
        element.kind === "literal" && !isSingle(element) && firstCode(element) === code
          ? [{ index, text: element.text }]
          : [],
      );
      return found.length === 0 ? undefined : found;
    }),
    limited: elements.flatMap((element, index) =>
      element.kind === "value" && isLimited(element) ? [{ index, element }] : [],
    ),
  };
}

/** Whether the element is one ASCII character: beyond ASCII a code does not tell characters apart. */
function isSingle(element: MatchElement): boolean {
  return element.kind === "literal" && element.text.length === 1 && firstCode(element) < BEYOND_ASCII;
}

function firstCode(element: MatchElement): number {
  return element.kind === "literal" ? Math.min(element.text.charCodeAt(0), BEYOND_ASCII) : -1;
}
