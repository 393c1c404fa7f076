/** A regular expression as a tree. */
export type PatternTree =
  | { readonly kind: "char"; readonly set: CharSet }
  | { readonly kind: "sequence"; readonly parts: readonly PatternTree[] }
  | { readonly kind: "either"; readonly parts: readonly PatternTree[] }
  | { readonly kind: "repeat"; readonly body: PatternTree; readonly min: number; readonly max: number }
  | { readonly kind: "edge"; readonly at: Edge }
  | { readonly kind: "look"; readonly behind: boolean; readonly negative: boolean; readonly body: PatternTree };

/** A zero-width assertion: the start or end of the text, a word boundary (`word`) or its opposite (`inside`). */
export type Edge = "start" | "end" | "word" | "inside";

/**
 * Thrown for a pattern that this library cannot match in linear time. The message completes the sentence "The pattern
 * …".
 */
export class UnsupportedPattern extends Error {}

const MAX_NESTING = 100;
const ESCAPE =
  /\\(?:u\{[0-9a-fA-F]+\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|[pP]\{[^}]*\}|[\s\S])/uy;
const QUANTIFIER = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y;
const CLASS = /\[(?:\\[\s\S]|[^\]\\])*\]/y;

/**
 * Parses the source of a regular expression that `new RegExp(source, flags)` accepts.
 *
 * Throws `UnsupportedPattern` for a backreference, because no linear algorithm can match one.
 */
export function parsePattern(source: string, flags: "u" | ""): PatternTree {
  return new PatternReader(source, flags).read();
}

class PatternReader {
  readonly #source: string;
  readonly #flags: "u" | "";
  readonly #sets = new Map<string, CharSet>();
  #at = 0;

  constructor(source: string, flags: "u" | "") {
    this.#source = source;
    this.#flags = flags;
  }

  read(): PatternTree {
    const tree = this.#either(0);
    if (this.#at < this.#source.length) throw new UnsupportedPattern("uses unsupported syntax");
    return tree;
  }

  #either(nesting: number): PatternTree {
    if (nesting > MAX_NESTING) throw new UnsupportedPattern(`nests groups deeper than ${MAX_NESTING} levels`);
    const parts = [this.#sequence(nesting)];
    while (this.#consume("|")) parts.push(this.#sequence(nesting));
    const [only] = parts;
    return only !== undefined && parts.length === 1 ? only : { kind: "either", parts };
  }

  #sequence(nesting: number): PatternTree {
    const parts: PatternTree[] = [];
    while (this.#at < this.#source.length && !this.#startsWith("|") && !this.#startsWith(")")) {
      parts.push(this.#repeated(this.#term(nesting)));
    }
    return { kind: "sequence", parts };
  }

  #repeated(body: PatternTree): PatternTree {
    const match = this.#match(QUANTIFIER);
    if (match === undefined) return body;
    const [text, least = "0", comma, most] = match;
    if (text.startsWith("*")) return { kind: "repeat", body, min: 0, max: Number.POSITIVE_INFINITY };
    if (text.startsWith("+")) return { kind: "repeat", body, min: 1, max: Number.POSITIVE_INFINITY };
    if (text.startsWith("?")) return { kind: "repeat", body, min: 0, max: 1 };
    const min = Number(least);
    return { kind: "repeat", body, min, max: comma === "" ? min : most ? Number(most) : Number.POSITIVE_INFINITY };
  }

  #term(nesting: number): PatternTree {
    if (this.#consume("^")) return { kind: "edge", at: "start" };
    if (this.#consume("$")) return { kind: "edge", at: "end" };
    if (this.#consume("(")) return this.#group(nesting);
    if (this.#startsWith("[")) return this.#set(this.#match(CLASS)?.[0]);
    if (this.#consume(".")) return this.#set(".");
    if (this.#startsWith("\\")) return this.#escape();
    const point = this.#source.codePointAt(this.#at) ?? 0;
    const text = this.#flags === "u" ? String.fromCodePoint(point) : this.#source.charAt(this.#at);
    this.#at += text.length;
    return { kind: "char", set: literalSet(text) };
  }

  #group(nesting: number): PatternTree {
    const look = this.#match(/\?(<?)([=!])/y);
    if (
      look === undefined &&
      !this.#consume("?:") &&
      this.#match(/\?<[^>]*>/y) === undefined &&
      this.#startsWith("?")
    ) {
      throw new UnsupportedPattern("changes flags inside a group");
    }
    const body = this.#either(nesting + 1);
    this.#consume(")");
    if (look === undefined) return body;
    return { kind: "look", behind: look[1] === "<", negative: look[2] === "!", body };
  }

  #escape(): PatternTree {
    const text = this.#match(ESCAPE)?.[0] ?? "";
    if (text === "\\b") return { kind: "edge", at: "word" };
    if (text === "\\B") return { kind: "edge", at: "inside" };
    if (/^\\[1-9k]/.test(text)) throw new UnsupportedPattern("has a backreference");
    // Without the flag `u`, `\u{…}`, `\p{…}` and `\0` before a digit have other meanings than this parser assumes.
    if (this.#flags === "" && (/^\\(?:u\{|[pP]\{)/.test(text) || (text === "\\0" && /^\d/.test(this.#rest())))) {
      throw new UnsupportedPattern("mixes Unicode-mode syntax with syntax that is invalid in that mode");
    }
    return /^\\[^a-zA-Z0-9]$/.test(text) ? { kind: "char", set: literalSet(text.slice(1)) } : this.#set(text);
  }

  #set(source: string | undefined): PatternTree {
    if (source === undefined) throw new UnsupportedPattern("uses unsupported syntax");
    return { kind: "char", set: this.#cached(source) };
  }

  #cached(source: string): CharSet {
    const known = this.#sets.get(source);
    if (known !== undefined) return known;
    const set = charSet(source, this.#flags);
    this.#sets.set(source, set);
    return set;
  }

  #rest(): string {
    return this.#source.slice(this.#at);
  }

  #startsWith(text: string): boolean {
    return this.#source.startsWith(text, this.#at);
  }

  #consume(text: string): boolean {
    if (!this.#startsWith(text)) return false;
    this.#at += text.length;
    return true;
  }

  #match(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at;
    const match = sticky.exec(this.#source);
    if (match === null) return undefined;
    this.#at += match[0].length;
    return match;
  }
}

/** The characters that match at one position of a pattern. */
export interface CharSet {
  /** True if the set contains the character. */
  has(codePoint: number): boolean;
  /** The ASCII characters in the set, one bit each. */
  readonly ascii: AsciiBits;
  /** True if the set may contain non-ASCII characters. */
  readonly beyond: boolean;
}

type AsciiBits = readonly [number, number, number, number];

const ASCII = 128;

/** The set of a single character. */
function literalSet(text: string): CharSet {
  const point = text.codePointAt(0) ?? 0;
  return { has: (other) => other === point, ascii: bitsOf((other) => other === point), beyond: point >= ASCII };
}

/**
 * Returns the set of a character class or escape, from its source.
 *
 * The platform's own regular expressions test membership, one character at a time. That takes constant time and agrees
 * with the platform on every class and Unicode property.
 */
export function charSet(source: string, flags: "u" | ""): CharSet {
  const one = new RegExp(`^${source}$`, flags);
  const ascii = bitsOf((point) => one.test(String.fromCharCode(point)));
  return {
    has(point) {
      if (point >= ASCII) return one.test(String.fromCodePoint(point));
      return (((ascii[point >> 5] ?? 0) >>> (point & 31)) & 1) === 1;
    },
    ascii,
    beyond: source === "." || /^\[\^|\\[upPDWSsxc]|[^\0-\x7f]/.test(source),
  };
}

function bitsOf(has: (point: number) => boolean): AsciiBits {
  const bits: [number, number, number, number] = [0, 0, 0, 0];
  for (let point = 0; point < ASCII; point++) {
    if (has(point)) bits[point >> 5] = (bits[point >> 5] ?? 0) | (1 << (point & 31));
  }
  return bits;
}

/** True if no character is in more than one of the sets. */
export function areDisjoint(sets: Iterable<CharSet>): boolean {
  const taken: [number, number, number, number] = [0, 0, 0, 0];
  let beyond = false;
  for (const set of sets) {
    if (set.beyond && beyond) return false;
    beyond ||= set.beyond;
    for (let i = 0; i < taken.length; i++) {
      const bits = set.ascii[i] ?? 0;
      if (((taken[i] ?? 0) & bits) !== 0) return false;
      taken[i] = (taken[i] ?? 0) | bits;
    }
  }
  return true;
}
