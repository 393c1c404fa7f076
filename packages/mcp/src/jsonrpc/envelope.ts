/** The members of a message itself, of which no reader may see another one than the next reader. */
const MEMBERS = ["jsonrpc", "id", "method", "params", "result", "error"];

/** Where the second member begins: after `{"jsonrpc":"2.0",`. */
const START = 17;

/**
 * Whether a parsed text surely has each member of the envelope once: the small ones take exactly the room that they need,
 * and the object after them is the last member. A few additions and two searches, because nearly all messages are plain;
 * the others are scanned.
 */
export function isPlainEnvelope(text: string, value: Record<string, unknown>): boolean {
  const { id, method, params, result } = value;
  let members = 2;
  let head = START;
  if (typeof id === "number") {
    // A number that ends in zeros may be written shorter.
    if (id < 0 || id % 1000 === 0) return false;
    members++;
    head += 6 + digitsOf(id);
  } else if (typeof id === "string") {
    members++;
    head += 8 + id.length;
  }
  if (typeof method === "string") {
    members++;
    head += 12 + method.length;
  }
  if (params === undefined && result === undefined) return text.length === head;
  // No member can be written shorter, so that even an empty object leaves no room for another one.
  if (text.length === head + 12) return true;
  if (!text.startsWith(params === undefined ? '"result":{' : '"params":{', head)) return false;
  // Whatever stood behind this object would have to end in an object: in this one again, under whatever spelling.
  return (
    text.endsWith("}}") &&
    countOf(value) === members &&
    text.indexOf(params === undefined ? 'result"' : 'params"', head + 10) === -1 &&
    text.indexOf("\\u00") === -1
  );
}

/** Without the list that `Object.keys` makes. */
function countOf(value: object): number {
  let count = 0;
  for (const _name in value) count++;
  return count;
}

function digitsOf(id: number): number {
  if (id < 10) return 1;
  let count = 1;
  for (let bound = 10; id >= bound; bound *= 10) count++;
  return count;
}

/**
 * Reads the brackets and the names of a text that may be any JSON, also broken. Returns what is wrong with the message, or
 * with one in an array of them: a member of the envelope that is there twice, or nesting below `maxDepth`.
 */
export function scanEnvelope(text: string, maxDepth: number): string | undefined {
  /** The depth of the envelope's own members. */
  const own = /^\s*\[/.test(text) ? 2 : 1;
  const seen = new Set<string>();
  let depth = 0;
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"': {
        const end = endOfString(text, at);
        if (end === -1) return undefined;
        if (isName && depth === own) {
          const name = nameOf(text.slice(at, end + 1));
          if (seen.has(name)) return `the member \`${name}\` is there twice`;
          if (MEMBERS.includes(name)) seen.add(name);
        }
        isName = false;
        at = end;
        break;
      }
      case "{":
      case "[":
        isName = text[at] === "{";
        if (++depth > maxDepth) return `the message is nested deeper than ${maxDepth} levels`;
        if (depth === own) seen.clear();
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
