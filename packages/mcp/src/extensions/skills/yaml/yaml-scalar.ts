/** The error for invalid YAML, and for YAML features that frontmatter does not need. */
export class YamlError extends Error {
  override readonly name = "YamlError";
  /** The line number, starting at 1. 0 if it is unknown and the caller has to add it. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** A value that both YAML and JSON can represent. */
export type YamlValue = string | number | boolean | null | YamlValue[] | { [key: string]: YamlValue };

/** Maximum nesting depth. Deeper frontmatter is refused. */
const MAX_DEPTH = 16;

/** Throws if values are nested too deeply. */
export function checkDepth(depth: number, line: number): void {
  if (depth > MAX_DEPTH) throw new YamlError(line, `values are nested more than ${MAX_DEPTH} levels deep`);
}

/** Adds a member. Throws for a duplicate key and for a merge key. */
export function addMember(map: { [key: string]: YamlValue }, key: string, value: YamlValue, line: number): void {
  if (key === "<<") throw new YamlError(line, "merge keys (`<<`) are not supported");
  if (Object.hasOwn(map, key)) throw new YamlError(line, `the key "${key}" occurs twice`);
  // An assignment to `__proto__` would change the object's prototype.
  Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
}

// White space means spaces and tabs, as in YAML. JavaScript's `\s` and `trim` include many more characters.

/** Removes spaces and tabs at the beginning. */
export function trimSpacesStart(text: string): string {
  let start = 0;
  while (start < text.length && " \t".includes(text.charAt(start))) start++;
  return text.slice(start);
}

/** Removes spaces and tabs at the end. A regular expression would take quadratic time for spaces inside the text. */
export function trimSpacesEnd(text: string): string {
  let end = text.length;
  while (end > 0 && " \t".includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Removes spaces and tabs at both ends. */
export function trimSpaces(text: string): string {
  return trimSpacesEnd(trimSpacesStart(text));
}

// Characters that YAML does not allow unescaped, and characters that only some readers skip or treat as a line break.
const REFUSED =
  /[^\t\n\r\u0020-\u007e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]|\r(?!\n)/u;

/**
 * Throws for characters that YAML forbids, or that some YAML readers treat as line breaks and others do not. Such
 * readers would see different fields.
 */
export function checkCharacters(text: string): void {
  const found = REFUSED.exec(text);
  if (found === null) return;
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const line = text.slice(0, found.index).split("\n").length;
  throw new YamlError(line, `the character U+${code} is not allowed here; write it as an escape in double quotes`);
}

const INTEGER = /^[-+]?\d+$/;
const OTHER_BASE = /^0(?:o[0-7]+|x[\dA-Fa-f]+)$/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;

/** Returns the value of a plain scalar, by the core schema of YAML 1.2. */
export function plainScalar(text: string, line: number): YamlValue {
  if (/^(?:~|null|Null|NULL|)$/.test(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (INTEGER.test(text) || OTHER_BASE.test(text) || FLOAT.test(text)) {
    const number = Number(text);
    if (Number.isFinite(number)) return number;
    throw new YamlError(line, `${text} is too large for JSON`);
  }
  if (/^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/.test(text))
    throw new YamlError(line, `JSON cannot represent ${text}`);
  return text;
}

/**
 * Returns an unquoted key. Throws for `null`, and for a key whose YAML value has a different spelling, such as `~` or
 * `0x10`. Accepts `true` and `10` as text.
 */
export function plainKeyScalar(text: string, line: number): string {
  if (String(plainScalar(text, line)) === text && text !== "null") return text;
  throw new YamlError(line, `the key ${text === "" ? "is missing" : `\`${text}\` is not text; quote it`}`);
}

/** Throws if a plain scalar begins with an indicator character. */
export function checkPlainStart(text: string, line: number): void {
  const first = text.charAt(0);
  if (first === "&" || first === "*") throw new YamlError(line, "anchors and aliases are not supported");
  if (first === "!") throw new YamlError(line, "tags are not supported");
  if ("@`%#|>".includes(first) || /^[?-](?:[ \t]|$)/.test(text) || "]},".includes(first)) {
    throw new YamlError(line, `a value cannot begin with \`${first}\`; quote it`);
  }
}

/** Joins lines: a line break becomes a space, and empty lines become line breaks. */
export function foldLines(lines: readonly string[]): string {
  let text = "";
  let breaks = 0;
  for (const [index, line] of lines.entries()) {
    if (index === 0) text = line;
    else if (line === "" && index < lines.length - 1) breaks++;
    else {
      text += (breaks === 0 ? " " : "\n".repeat(breaks)) + line;
      breaks = 0;
    }
  }
  return text;
}

/** Returns the index of the quote that closes the quoted text at `from`. Undefined if the text is not closed. */
export function quoteEnd(text: string, from: number): number | undefined {
  const quote = text.charAt(from);
  for (let at = from + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (quote === '"' && character === "\\") at++;
    else if (character === quote) {
      if (quote === '"' || text.charAt(at + 1) !== quote) return at;
      at++;
    }
  }
  return undefined;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "0": "\0",
  a: "\x07",
  b: "\b",
  t: "\t",
  "\t": "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  e: "\x1b",
  " ": " ",
  '"': '"',
  "/": "/",
  "\\": "\\",
  N: "\x85",
  _: "\xa0",
  L: "\u2028",
  P: "\u2029",
};

/** Returns the value of a quoted scalar, which may span lines. `inner` excludes the quotes. */
export function quotedScalar(quote: string, inner: string, line: number): string {
  let value = "";
  let current = "";
  // Length of the part of `current` up to the last escape. White space in this part is not trimmed at a line break.
  let kept = 0;
  for (let at = 0; at < inner.length; at++) {
    const character = inner.charAt(at);
    if (character === "\n") {
      value += current.slice(0, kept) + trimSpacesEnd(current.slice(kept));
      current = "";
      kept = 0;
      const space = spaceFrom(inner, at);
      value += space.breaks === 1 ? " " : "\n".repeat(space.breaks - 1);
      at = space.end - 1;
    } else if (quote === "'") {
      current += character;
      if (character === "'") at++;
    } else if (character !== "\\") current += character;
    else if (inner.charAt(at + 1) === "\n") {
      const space = spaceFrom(inner, at + 1);
      value += current + "\n".repeat(space.breaks - 1);
      current = "";
      kept = 0;
      at = space.end - 1;
    } else {
      const found = escaped(inner, at + 1, line);
      current += found.text;
      kept = current.length;
      at = found.end - 1;
    }
  }
  return value + current;
}

/** Returns the number of line breaks in the white space at `at`, and its end. */
function spaceFrom(text: string, at: number): { breaks: number; end: number } {
  let breaks = 0;
  let end = at;
  for (; " \t\n".includes(text.charAt(end)) && end < text.length; end++) if (text.charAt(end) === "\n") breaks++;
  return { breaks, end };
}

/** Decodes an escape sequence. `at` is the index after the backslash. */
function escaped(text: string, at: number, line: number): { text: string; end: number } {
  const kind = text.charAt(at);
  const digits = { x: 2, u: 4, U: 8 }[kind] ?? 0;
  const hex = text.slice(at + 1, at + 1 + digits);
  if (digits > 0 && hex.length === digits && /^[\dA-Fa-f]+$/.test(hex)) {
    const code = Number.parseInt(hex, 16);
    if (code <= 0x10ffff) return { text: String.fromCodePoint(code), end: at + 1 + digits };
  }
  const found = Object.hasOwn(ESCAPES, kind) ? ESCAPES[kind] : undefined;
  if (found === undefined) throw new YamlError(line, `\\${kind}${hex} is not an escape sequence`);
  return { text: found, end: at + 1 };
}

// A comment begins after white space. A plain scalar ends at a bracket, a comma, a comment, or a separating colon.
const SPACE = /(?:[ \t\n]|(?<=[ \t\n])#[^\n]*)*/y;
const PLAIN_END = /[,[\]{}]|:(?=[ \t\n,[\]{}]|$)|[ \t\n]#/g;

/** Reads a list in brackets or a map in braces, which may span lines, in linear time. */
export class YamlFlow {
  readonly #text: string;
  /** The index of the next character. */
  at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  value(depth: number): YamlValue {
    if (depth > 0) checkDepth(depth, 0);
    const first = this.#peek();
    if (first === "[") return this.#list(depth);
    if (first === "{") return this.#map(depth);
    return first === '"' || first === "'" ? this.#quoted() : plainScalar(this.#plain(), 0);
  }

  #list(depth: number): YamlValue[] {
    const list: YamlValue[] = [];
    this.at++;
    while (this.#peek() !== "]") {
      list.push(this.value(depth + 1));
      if (this.#peek() === ":") throw new YamlError(0, "a pair in a list needs braces");
      this.#separator("]");
    }
    this.at++;
    return list;
  }

  #map(depth: number): { [key: string]: YamlValue } {
    const map: { [key: string]: YamlValue } = {};
    this.at++;
    while (this.#peek() !== "}") {
      const quoted = this.#peek() === '"' || this.#peek() === "'";
      const key = quoted ? this.#quoted() : plainKeyScalar(this.#plain(), 0);
      let value: YamlValue = null;
      if (this.#peek() === ":") {
        this.at++;
        if (!",}".includes(this.#peek())) value = this.value(depth + 1);
      }
      addMember(map, key, value, 0);
      this.#separator("}");
    }
    this.at++;
    return map;
  }

  #separator(end: "]" | "}"): void {
    const next = this.#peek();
    if (next === ",") this.at++;
    else if (next !== end) throw new YamlError(0, `expected \`,\` or \`${end}\`, found \`${next}\``);
  }

  #quoted(): string {
    const end = quoteEnd(this.#text, this.at);
    if (end === undefined) throw new YamlError(0, "a quote is not closed");
    const value = quotedScalar(this.#text.charAt(this.at), this.#text.slice(this.at + 1, end), 0);
    this.at = end + 1;
    return value;
  }

  #plain(): string {
    PLAIN_END.lastIndex = this.at;
    const end = PLAIN_END.exec(this.#text)?.index ?? this.#text.length;
    const lines = this.#text.slice(this.at, end).split("\n").map(trimSpaces);
    while (lines.length > 1 && lines.at(-1) === "") lines.pop();
    const text = foldLines(lines);
    if (text === "") throw new YamlError(0, "a value is missing");
    checkPlainStart(text, 0);
    this.at = end;
    return text;
  }

  /** Moves to the next character that is not white space or part of a comment, and returns it. */
  #peek(): string {
    SPACE.lastIndex = this.at;
    this.at += SPACE.exec(this.#text)?.[0].length ?? 0;
    const next = this.#text.charAt(this.at);
    if (next === "") throw new YamlError(0, "a bracket is not closed");
    return next;
  }
}
