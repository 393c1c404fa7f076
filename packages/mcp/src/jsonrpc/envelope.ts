/** The members of a message itself, of which no reader may see another one than the next reader. */
const MEMBERS = ["jsonrpc", "id", "method", "params", "result", "error"];
const QUOTED = MEMBERS.map((name) => `"${name}"`);

/** The room that one more member takes at least: `,"id":1`. */
export const LEAST_MEMBER = 7;

/** From this length on a few searches cost less than to read every bracket. */
const LONG = 1000;

/** Whether a text surely has each member of the envelope at most once: no name is escaped, and none stands there again. */
export function isPlainEnvelope(text: string): boolean {
  if (text.length < LONG || text.indexOf("\\u00") !== -1) return false;
  for (const quoted of QUOTED) {
    const first = text.indexOf(quoted);
    if (first !== -1 && text.indexOf(quoted, first + 1) !== -1) return false;
  }
  return true;
}

/**
 * Reads the brackets and the names of a text that may be any JSON, also broken. Returns what is wrong with the message, or
 * with one in an array of them: a member of the envelope that is there twice, or nesting below `maxDepth`.
 */
export function scanEnvelope(text: string, maxDepth: number): string | undefined {
  /** The depth of the envelope's own members. */
  const own = /^\s*\[/.test(text) ? 2 : 1;
  /** One bit for each member. */
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
          if (bit > 1 && (seen & bit) !== 0) return `the member \`${name}\` is there twice`;
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
