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
  if (text.length < LONG || text.indexOf("\\u00") !== -1) return false;
  for (const quoted of QUOTED) {
    const first = text.indexOf(quoted);
    if (first !== -1 && text.indexOf(quoted, first + 1) !== -1) return false;
  }
  return true;
}

/**
 * Scans the brackets and names of a text, which may be invalid JSON. Returns the defect of the message, or of a message
 * in an array: a duplicate member of the envelope, or nesting deeper than `maxDepth`. Returns undefined if there is
 * none.
 */
export function scanEnvelope(text: string, maxDepth: number): string | undefined {
  /** The depth at which the members of the envelope are. */
  const own = /^\s*\[/.test(text) ? 2 : 1;
  /** The members found so far, one bit per member. */
  let seen = 0;
  let depth = 0;
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"': {
        const end = endOfString(text, at);
        if (end === -1) return undefined;
        if (isName && depth === own) {
          const name = nameOf(text.slice(at, end + 1));
          const bit = 1 << (MEMBERS.indexOf(name) + 1);
          if (bit > 1 && (seen & bit) !== 0) return `the member \`${name}\` occurs twice`;
          seen |= bit;
        }
        isName = false;
        at = end;
        break;
      }
      case "{":
      case "[":
        isName = text[at] === "{";
        if (++depth > maxDepth) return `the message is nested deeper than ${maxDepth} levels`;
        if (depth === own) seen = 0;
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
  return undefined;
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
