import { BEYOND_ASCII, END, type MatchProgram } from "./match-program.js";

/**
 * The positions of a text from which the rest of a template can match the rest of the text.
 *
 * Computed in one pass from right to left. Each step advances all elements at once, so the time is linear in the
 * length of any text.
 */
export interface Reachability {
  /** By position: bit `k` is set if the elements from `k` on match the text from this position to its end. */
  readonly open: Int32Array;
  /** By position: bit `k` is set if the elements from `k` on match with the optional element `k` present. */
  readonly present: Int32Array;
  /** By position: the code of the character. All non-ASCII characters share one code. */
  readonly codes: Uint8Array;
  /**
   * By position: number of characters before the position, where a triplet or a surrogate pair counts as one. Absent if
   * the text has neither, or if no value is limited.
   */
  readonly characters: Int32Array | undefined;
}

/** The state of one pass over a text. */
interface Pass extends Reachability {
  readonly text: string;
  /**
   * By position: 1 inside a triplet or a surrogate pair, where no element may begin or end. Absent if the text has
   * neither.
   */
  readonly inside: Uint8Array | undefined;
  /** By limited value: the nearest end of a value that continues at the next position, or -1. */
  readonly nearest: Int32Array;
}

/** Computes the reachable positions of a text. */
export function reachability(program: MatchProgram, text: string): Reachability {
  const inside = insideCharacters(text);
  const pass: Pass = {
    open: new Int32Array(text.length + 1),
    present: new Int32Array(text.length + 1),
    codes: codesOf(text),
    characters: inside !== undefined && program.limited.length > 0 ? characterCounts(inside) : undefined,
    text,
    inside,
    nearest: new Int32Array(program.limited.length).fill(-1),
  };
  walk(pass, program);
  return pass;
}

/** Counts the characters between two positions. */
export function charactersBetween(characters: Int32Array | undefined, start: number, end: number): number {
  return characters === undefined ? end - start : (characters[end] ?? 0) - (characters[start] ?? 0);
}

function walk(pass: Pass, program: MatchProgram): void {
  const { open, present, codes, inside } = pass;
  const { plain, optional, accepts, leads, runs, single, literals, limited } = program;
  const { length } = codes;
  /**
   * `running` has the elements that can continue at the next position, and `further` the elements that are open there.
   */
  let running = 0;
  let further = 0;
  let codeAfter = END;
  for (let at = length; at >= 0; at--) {
    const code = at === length ? END : (codes[at] ?? 0);
    const goesOn = running & (accepts[code] ?? 0);
    if (inside !== undefined && inside[at] === 1) {
      running = goesOn;
      further = 0;
      if (limited.length !== 0) continueLimited(pass, program, at, code);
      continue;
    }
    let begun = running & (leads[code] ?? 0);
    let reached = (goesOn & plain) | ((further >>> 1) & (single[code] ?? 0));
    if (at === length) reached |= 1 << program.elements.length;
    if (literals[code] !== undefined) reached |= literalsAt(pass, program, at, code);
    if (limited.length !== 0) {
      const beginning = limitedAt(pass, program, at, code);
      begun |= beginning & optional;
      reached |= beginning;
    }
    reached |= begun;
    // An absent optional element matches wherever the element after it does. The loop covers chains of optional
    // elements.
    for (
      let absent = (reached >>> 1) & optional & ~reached;
      absent !== 0;
      absent = (reached >>> 1) & optional & ~reached
    ) {
      reached |= absent;
    }
    present[at] = begun;
    open[at] = reached;
    const before = goesOn | ((reached >>> 1) & runs);
    const isSettled = before === running && reached === further && code === codeAfter;
    running = before;
    further = reached;
    codeAfter = code;
    if (limited.length !== 0) continueLimited(pass, program, at, code);
    else if (isSettled && inside === undefined && literals[code] === undefined) at = repeat(pass, at, code);
  }
}

/**
 * If a step changed nothing, copies its result to all equal characters before it. This makes long runs of one character
 * cheap. Hostile texts mostly consist of such runs.
 */
function repeat({ open, present, codes }: Pass, at: number, code: number): number {
  let first = at;
  while (first > 0 && codes[first - 1] === code) first--;
  open.fill(open[at] ?? 0, first, at);
  present.fill(present[at] ?? 0, first, at);
  return first;
}

/** Returns the literals at this position after which the rest matches. */
function literalsAt({ open, text }: Pass, { literals }: MatchProgram, at: number, code: number): number {
  let bits = 0;
  for (const literal of literals[code] ?? []) {
    const after = at + literal.text.length;
    if (after > text.length || (((open[after] ?? 0) >>> (literal.index + 1)) & 1) === 0) continue;
    if (text.startsWith(literal.text, at)) bits |= 1 << literal.index;
  }
  return bits;
}

/**
 * Returns the limited values that may begin at this position, with their lead if they have one. A value may begin here
 * if a possible end is within its maximum length.
 */
function limitedAt({ nearest, characters }: Pass, { limited }: MatchProgram, at: number, code: number): number {
  let bits = 0;
  for (let slot = 0; slot < limited.length; slot++) {
    const value = limited[slot];
    const end = nearest[slot] ?? -1;
    if (value === undefined || end === -1) continue;
    const { lead, accepts, maxLength } = value.element;
    if (lead === -1 ? accepts[code] !== 1 : code !== lead) continue;
    if (charactersBetween(characters, lead === -1 ? at : at + 1, end) <= maxLength) bits |= 1 << value.index;
  }
  return bits;
}

function continueLimited({ open, nearest }: Pass, { limited }: MatchProgram, at: number, code: number): void {
  for (let slot = 0; slot < limited.length; slot++) {
    const value = limited[slot];
    if (value === undefined) continue;
    if ((((open[at] ?? 0) >>> (value.index + 1)) & 1) === 1) nearest[slot] = at;
    else if (value.element.accepts[code] !== 1) nearest[slot] = -1;
  }
}

/**
 * Maximum length of a text for which the loop below is about as fast as the native call. Only longer texts use the
 * native call.
 */
const SHORT = 64;
const encoder = new TextEncoder();

function codesOf(text: string): Uint8Array {
  const codes = new Uint8Array(text.length);
  // The UTF-8 bytes of ASCII text are the codes. Other text has more bytes than UTF-16 units, so it does not fit into
  // the array.
  if (text.length > SHORT && encoder.encodeInto(text, codes).read === text.length) return codes;
  for (let at = 0; at < codes.length; at++) codes[at] = Math.min(text.charCodeAt(at), BEYOND_ASCII);
  return codes;
}

function insideCharacters(text: string): Uint8Array | undefined {
  if (!/[%\ud800-\udbff]/.test(text)) return undefined;
  const inside = new Uint8Array(text.length + 1);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x25) inside[at + 1] = inside[at + 2] = 1;
    else if (code >= 0xd800 && code <= 0xdbff && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) inside[at + 1] = 1;
  }
  return inside;
}

function characterCounts(inside: Uint8Array): Int32Array {
  const counts = new Int32Array(inside.length);
  for (let at = 1; at < inside.length; at++) counts[at] = (counts[at - 1] ?? 0) + (inside[at] === 1 ? 0 : 1);
  return counts;
}
