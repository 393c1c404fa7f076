import type { TextPart } from "./secret-parts.js";

/** Maximum size of one argument. Linux accepts at most 128 KiB. Longer JSON is passed on stdin. */
export const MAX_WORD_BYTES = 100_000;

const PLAIN = /^[\w%+:,./@-][\w%+=:,./@-]*$/;
const PLAIN_IN_QUOTES = /^[\w ;:,./%+=@?&#~-]*$/;
/**
 * Lone surrogates, and control characters other than line feed and tab. An escape sequence could end the paste, and the
 * shell would run the rest of the text.
 */
const CONTROL = /(?![\n\t])[\p{Cc}\p{Cs}]/u;
/** Characters that could control a terminal or reorder its text. In JSON they occur only inside strings. */
const RISKY_IN_JSON = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** True if a text can be pasted into a shell as one argument. */
export function isPasteable(text: string): boolean {
  return !CONTROL.test(text) && Buffer.byteLength(text) <= MAX_WORD_BYTES;
}

/** Returns a shell word that expands to exactly this text, with the values of its variables. */
export function shellWord(parts: string | readonly TextPart[]): string {
  const list = typeof parts === "string" ? [parts] : parts;
  if (list.every((part) => typeof part === "string")) return quoted(list.join(""));
  const inQuotes = list.every((part) => typeof part !== "string" || PLAIN_IN_QUOTES.test(part));
  if (!inQuotes) return list.map((part) => (typeof part === "string" ? quoted(part) : `"$${part.variable}"`)).join("");
  const text = list.map((part, index) => {
    if (typeof part === "string") return part;
    const next = list[index + 1];
    return typeof next === "string" && /^\w/.test(next) ? `\${${part.variable}}` : `$${part.variable}`;
  });
  return `"${text.join("")}"`;
}

/** Returns a header as an argument for `curl`. */
export function headerWord(name: string, value: TextPart): string {
  // For curl, `name:` removes a header, and `name;` sends one without a value.
  return value === "" ? shellWord(`${name};`) : shellWord([`${name}: `, value]);
}

/**
 * Returns a value as JSON on one line, without characters that a terminal interprets. Undefined if it is nested too
 * deeply.
 */
export function pasteableJson(value: unknown): string | undefined {
  try {
    const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return JSON.stringify(value)?.replace(RISKY_IN_JSON, escaped);
  } catch {
    return undefined;
  }
}

function quoted(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
