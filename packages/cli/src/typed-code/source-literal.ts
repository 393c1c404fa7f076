import { printable } from "@parley/mcp/protocol";

/** Maximum length of one description in a comment. Longer descriptions are cut. */
const MAX_COMMENT_LENGTH = 4_000;

/** Characters to escape in string literals, because editors, terminals or older parsers act on them. */
const ESCAPED = /[^\x20-\x7e\p{L}\p{M}\p{N}\p{S}\p{P}]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** A safe string literal for TypeScript and JavaScript. */
export function stringLiteral(text: string): string {
  return JSON.stringify(text).replace(ESCAPED, (char) =>
    Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}

/** The name of a member in a type, quoted if necessary. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== "__proto__" && name !== "constructor" ? name : stringLiteral(name);
}

/**
 * A doc comment with a text from the server. The text cannot end the comment, and cannot contain a tag or directive
 * such as `@ts-ignore`, which would hide errors in the user's code. Returns an empty string for an empty text.
 */
export function docComment(text: string, indent = ""): string {
  const cut = text.length > MAX_COMMENT_LENGTH ? `${text.slice(0, MAX_COMMENT_LENGTH)}…` : text;
  const lines = printable(cut.replaceAll("\r\n", "\n"))
    .replaceAll("*/", "*\\/")
    .replace(/(^|[^\w.+-])@(?=\w)/gm, "$1\\@")
    .trim()
    .split("\n")
    .map((line) => line.trimEnd());
  if (lines.length === 1) return lines[0] === "" ? "" : `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}
