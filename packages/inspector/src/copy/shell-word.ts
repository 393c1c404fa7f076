import type { TextPart } from "./secret-parts.js";

/** The longest word that is written out; Linux passes at most 128 KiB as one. */
export const LONGEST_WORD = 100_000;

const PLAIN = /^[\w%+:,./@-][\w%+=:,./@-]*$/;
const PLAIN_IN_QUOTES = /^[\w ;:,./%+=@?&#~-]*$/;
/** Control characters but line feed and tab: an escape sequence in what is pasted could end the paste, and run the rest. */
const CONTROL = /(?![\n\t])[\p{Cc}\p{Cs}]/u;
/** Characters that could act on a terminal or reorder what it shows; in JSON they only occur inside strings. */
const RISKY_IN_JSON = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Whether a text can be pasted into a shell as a word, whatever program reads it. */
export function isPasteable(text: string): boolean {
  return !CONTROL.test(text) && Buffer.byteLength(text) <= LONGEST_WORD;
}

/** A word that a POSIX shell passes on as exactly this text, with the values of variables in it. */
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

/** A header as a word for `curl`. */
export function headerWord(name: string, value: TextPart): string {
  // For curl `name:` removes a header, and `name;` is one without a value.
  return value === "" ? shellWord(`${name};`) : shellWord([`${name}: `, value]);
}

/** A value as JSON on one line that no terminal reacts to; undefined if it is nested too deep to be written. */
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
