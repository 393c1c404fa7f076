/** The characters that match at one position of a pattern. */
export interface CharSet {
  has(codePoint: number): boolean;
  /** Which ASCII characters are in the set, one bit each. */
  readonly ascii: AsciiBits;
  /** Whether the set may contain non-ASCII characters; true if unknown. */
  readonly beyond: boolean;
}

type AsciiBits = readonly [number, number, number, number];

const ASCII = 128;

/** The set of a single character. */
export function literalSet(text: string): CharSet {
  const point = text.codePointAt(0) ?? 0;
  return { has: (other) => other === point, ascii: bitsOf((other) => other === point), beyond: point >= ASCII };
}

/**
 * The set of a character class or escape, from its source.
 *
 * The platform's own regular expressions decide membership, one character at a time: that takes constant time and
 * agrees with them on every class and Unicode property.
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

/** Whether no character is in more than one of the sets. */
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
