/** The characters that one place of a pattern takes. */
export interface CharSet {
  has(codePoint: number): boolean;
  /** Which of the first 128 characters are in, one byte each. */
  readonly ascii: Uint8Array;
  /** Whether characters past those may be in; true where it is not known. */
  readonly beyond: boolean;
}

const ASCII = 128;

/** The set of a single character. */
export function literalSet(text: string): CharSet {
  const point = text.codePointAt(0) ?? 0;
  const ascii = new Uint8Array(ASCII);
  if (point < ASCII) ascii[point] = 1;
  return { has: (other) => other === point, ascii, beyond: point >= ASCII };
}

/**
 * The set of a class or an escape, given by its source.
 *
 * The platform's own regular expressions say what is in it, one character at a time: that is linear, and agrees with
 * them on every class and Unicode property.
 */
export function charSet(source: string, flags: "u" | ""): CharSet {
  const one = new RegExp(`^${source}$`, flags);
  const ascii = new Uint8Array(ASCII);
  for (let point = 0; point < ASCII; point++) ascii[point] = one.test(String.fromCharCode(point)) ? 1 : 0;
  return {
    has: (point) => (point < ASCII ? ascii[point] === 1 : one.test(String.fromCodePoint(point))),
    ascii,
    beyond: source === "." || /^\[\^|\\[upPDWSsxc]|[^\0-\x7f]/.test(source),
  };
}

/** Whether two sets may share a character. */
export function overlap(a: CharSet, b: CharSet): boolean {
  return (a.beyond && b.beyond) || a.ascii.some((inside, point) => inside === 1 && b.ascii[point] === 1);
}
