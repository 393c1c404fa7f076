import { BEYOND_ASCII } from "./match-element.js";
import { END, type MatchProgram } from "./match-program.js";

/**
 * For one text, from which positions the rest of a template can match the rest of the text.
 *
 * One pass from right to left; each step moves all elements at once. So the time is in proportion to the length of the
 * text, whatever the text is: nothing is ever tried twice.
 */
export interface Reachability {
  /** By position: bit `k` is set where the elements from `k` on match the text from here to its end. */
  readonly open: Int32Array;
  /** By position: bit `k` is set where that holds with the optional element `k` present. */
  readonly present: Int32Array;
  /** By position: the character's code; one number stands for all beyond ASCII. */
  readonly codes: Uint8Array;
  /** By position: characters before it; a triplet and a surrogate pair are one. Absent where all are one unit long. */
  readonly characters: Int32Array | undefined;
}

/** What the steps over one text share. */
interface Pass extends Reachability {
  readonly text: string;
  /** By position: 1 within a triplet or a surrogate pair, where nothing may begin or end. Absent where there are none. */
  readonly inside: Uint8Array | undefined;
  /** By limited value: the nearest end of one that goes on at the position one further, or -1. */
  readonly nearest: Int32Array;
}

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

export function charactersBetween(characters: Int32Array | undefined, start: number, end: number): number {
  return characters === undefined ? end - start : (characters[end] ?? 0) - (characters[start] ?? 0);
}

function walk(pass: Pass, program: MatchProgram): void {
  const { open, present, codes, inside } = pass;
  const { plain, optional, accepts, leads, runs, single, literals, limited } = program;
  const { length } = codes;
  /** Elements that can go on at the position one further, and those that are open there. */
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
    // An optional element is also matched by what comes after it, and so is one before that.
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

/** Copies a step that changes nothing to all equal characters before it: hostile texts are mostly one long run. */
function repeat({ open, present, codes }: Pass, at: number, code: number): number {
  let first = at;
  while (first > 0 && codes[first - 1] === code) first--;
  open.fill(open[at] ?? 0, first, at);
  present.fill(present[at] ?? 0, first, at);
  return first;
}

/** The literals that stand here with the rest matching after them. */
function literalsAt({ open, text }: Pass, { literals }: MatchProgram, at: number, code: number): number {
  let found = 0;
  for (const literal of literals[code] ?? []) {
    const after = at + literal.text.length;
    if (after > text.length || (((open[after] ?? 0) >>> (literal.index + 1)) & 1) === 0) continue;
    if (text.startsWith(literal.text, at)) found |= 1 << literal.index;
  }
  return found;
}

/** The limited values that may begin here, at their lead if they have one: near enough to an end. */
function limitedAt({ nearest, characters }: Pass, { limited }: MatchProgram, at: number, code: number): number {
  let found = 0;
  for (let slot = 0; slot < limited.length; slot++) {
    const value = limited[slot];
    const end = nearest[slot] ?? -1;
    if (value === undefined || end === -1) continue;
    const { lead, accepts, longest } = value.element;
    if (lead === -1 ? accepts[code] !== 1 : code !== lead) continue;
    if (charactersBetween(characters, lead === -1 ? at : at + 1, end) <= longest) found |= 1 << value.index;
  }
  return found;
}

function continueLimited({ open, nearest }: Pass, { limited }: MatchProgram, at: number, code: number): void {
  for (let slot = 0; slot < limited.length; slot++) {
    const value = limited[slot];
    if (value === undefined) continue;
    if ((((open[at] ?? 0) >>> (value.index + 1)) & 1) === 1) nearest[slot] = at;
    else if (value.element.accepts[code] !== 1) nearest[slot] = -1;
  }
}

/** Below this length a loop is faster than a call into native code. */
const SHORT = 64;
const encoder = new TextEncoder();

function codesOf(text: string): Uint8Array {
  const codes = new Uint8Array(text.length);
  // In ASCII the bytes are the codes. Other text has more bytes than units, so that it is not read to its end.
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
