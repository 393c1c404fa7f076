import { YamlError, type YamlValue } from "./yaml-error.js";
import { trimSpacesEnd } from "./yaml-space.js";

const INTEGER = /^[-+]?\d+$/;
const OTHER_BASE = /^0(?:o[0-7]+|x[\dA-Fa-f]+)$/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;

/** The value of a plain scalar, by the core schema of YAML 1.2. */
export function plainScalar(text: string, line: number): YamlValue {
  if (/^(?:~|null|Null|NULL|)$/.test(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (INTEGER.test(text) || OTHER_BASE.test(text) || FLOAT.test(text)) {
    const number = Number(text);
    if (Number.isFinite(number)) return number;
    throw new YamlError(line, `${text} is beyond the numbers of JSON`);
  }
  if (/^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/.test(text)) throw new YamlError(line, `JSON has no ${text}`);
  return text;
}

/** A key without quotes. Throws for one that YAML takes for something else than this text, such as `~` or `0x10`. */
export function plainKeyScalar(text: string, line: number): string {
  if (String(plainScalar(text, line)) === text && text !== "null") return text;
  throw new YamlError(line, `the key ${text === "" ? "is missing" : `\`${text}\` is not text; quote it`}`);
}

/** Throws for a plain scalar that begins with a character that means something else. */
export function checkPlainStart(text: string, line: number): void {
  const first = text.charAt(0);
  if (first === "&" || first === "*") throw new YamlError(line, "anchors and aliases are not supported");
  if (first === "!") throw new YamlError(line, "tags are not supported");
  if ("@`%#|>".includes(first) || /^[?-](?:[ \t]|$)/.test(text) || "]},".includes(first)) {
    throw new YamlError(line, `a value cannot begin with \`${first}\`; quote it`);
  }
}

/** Lines of text as one: a line break becomes a space, and empty lines become line breaks. */
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

/** Where the quoted text that begins at `from` ends, as the index of its last quote; undefined if it does not. */
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

/** The value of a quoted scalar, without its quotes; it may span lines. */
export function quotedScalar(quote: string, inner: string, line: number): string {
  let value = "";
  let current = "";
  // The part of `current` that stays when the white space before a line break is dropped.
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

/** The white space from `at` on: how many line breaks it has, and where it ends. */
function spaceFrom(text: string, at: number): { breaks: number; end: number } {
  let breaks = 0;
  let end = at;
  for (; " \t\n".includes(text.charAt(end)) && end < text.length; end++) if (text.charAt(end) === "\n") breaks++;
  return { breaks, end };
}

/** The character that an escape stands for; `at` is behind the backslash. */
function escaped(text: string, at: number, line: number): { text: string; end: number } {
  const kind = text.charAt(at);
  const digits = { x: 2, u: 4, U: 8 }[kind] ?? 0;
  const hex = text.slice(at + 1, at + 1 + digits);
  if (digits > 0 && hex.length === digits && /^[\dA-Fa-f]+$/.test(hex)) {
    const code = Number.parseInt(hex, 16);
    if (code <= 0x10ffff) return { text: String.fromCodePoint(code), end: at + 1 + digits };
  }
  const found = Object.hasOwn(ESCAPES, kind) ? ESCAPES[kind] : undefined;
  if (found === undefined) throw new YamlError(line, `\\${kind}${hex} is no escape`);
  return { text: found, end: at + 1 };
}
