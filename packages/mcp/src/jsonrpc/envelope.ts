/**
 * The members of a JSON-RPC message. Parsers differ in which of two duplicates they use, so duplicates are refused.
 */
const MEMBERS = ["jsonrpc", "id", "method", "params", "result", "error"];
const QUOTED = MEMBERS.map((name) => `"${name}"`);

/** The length of the shortest possible member: `,"id":1`. */
export const MIN_MEMBER_LENGTH = 7;

/** From this length on, a few text searches cost less than scanning every bracket. */
const LONG = 1000;

/**
 * True if a text certainly has each member of the envelope at most once: no name is escaped, and none occurs again.
 * False if this is unknown, and for short texts, which are cheaper to scan.
 */
export function isPlainEnvelope(text: string): boolean {
  return text.length >= LONG && !hasEscapedLetter(text) && QUOTED.every((quoted) => !occursTwice(text, quoted));
}

/** Like `isPlainEnvelope`, for long texts: yields after each search, which takes milliseconds in megabytes of text. */
export function* plainEnvelopeSteps(text: string): Generator<undefined, boolean> {
  if (hasEscapedLetter(text)) return false;
  for (const quoted of QUOTED) {
    yield;
    if (occursTwice(text, quoted)) return false;
  }
  return true;
}

function hasEscapedLetter(text: string): boolean {
  return text.indexOf("\\u00") !== -1;
}

function occursTwice(text: string, part: string): boolean {
  const first = text.indexOf(part);
  return first !== -1 && text.indexOf(part, first + 1) !== -1;
}

/**
 * Scans the brackets and names of a text, which may be invalid JSON. Returns the defect of the message, or of a message
 * in an array: a duplicate member of the envelope, or nesting deeper than `maxDepth`. Returns undefined if there is
 * none.
 */
export function scanEnvelope(text: string, maxDepth: number): string | undefined {
  const scan = new EnvelopeScan(text, maxDepth);
  scan.advance(text.length);
  return scan.flaw;
}

/** Like `scanEnvelope`, but yields after each part of the text. */
export function* scanEnvelopeSteps(text: string, maxDepth: number): Generator<undefined, string | undefined> {
  const scan = new EnvelopeScan(text, maxDepth);
  while (scan.advance(SCAN_STEP)) yield;
  return scan.flaw;
}

/** Number of characters that one step scans: about a millisecond. */
const SCAN_STEP = 262_144;

/** A scan of a text that can pause. */
class EnvelopeScan {
  flaw: string | undefined;
  readonly #text: string;
  readonly #maxDepth: number;
  /** The depth at which the members of the envelope are. */
  readonly #own: number;
  /** The members found so far, one bit per member. */
  #seen = 0;
  #depth = 0;
  #isName = false;
  #at = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#own = /^\s*\[/.test(text) ? 2 : 1;
  }

  /** Scans `count` characters, and a string that begins among them to its end. Returns false at the end of the scan. */
  advance(count: number): boolean {
    const text = this.#text;
    const end = Math.min(this.#at + count, text.length);
    const own = this.#own;
    let depth = this.#depth;
    let isName = this.#isName;
    let at = this.#at;
    for (; at < end; at++) {
      switch (text[at]) {
        case '"': {
          const close = endOfString(text, at);
          if (close === -1) return false;
          if (isName && depth === own && this.#isRepeated(nameOf(text.slice(at, close + 1)))) return false;
          isName = false;
          at = close;
          break;
        }
        case "{":
        case "[":
          isName = text[at] === "{";
          if (++depth > this.#maxDepth) {
            this.flaw = `the message is nested deeper than ${this.#maxDepth} levels`;
            return false;
          }
          if (depth === own) this.#seen = 0;
          break;
        case "}":
        case "]":
          depth--;
          break;
        case ",":
          isName = true;
          break;
      }
    }
    this.#depth = depth;
    this.#isName = isName;
    this.#at = at;
    return at < text.length;
  }

  /** Registers a member of the envelope. Returns true if the envelope already has it. */
  #isRepeated(name: string): boolean {
    const bit = 1 << (MEMBERS.indexOf(name) + 1);
    const repeated = bit > 1 && (this.#seen & bit) !== 0;
    if (repeated) this.flaw = `the member \`${name}\` occurs twice`;
    this.#seen |= bit;
    return repeated;
  }
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === "\\") before--;
    if ((end - before) % 2 === 1) return end;
  }
  return -1;
}

function nameOf(quoted: string): string {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
