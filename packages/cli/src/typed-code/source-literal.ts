import { printable } from "@parley/mcp/protocol";

/** Characters of one description that a comment repeats; the rest is cut, because a comment is read by people and by models. */
const MAX_COMMENT_LENGTH = 4_000;

/** Characters that a string of generated code spells: editors, terminals and older parsers act on them. */
const ESCAPED = /[^\x20-\x7e\p{L}\p{M}\p{N}\p{S}\p{P}]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** A string as TypeScript and JavaScript write it, whatever it holds. */
export function stringLiteral(text: string): string {
  return JSON.stringify(text).replace(ESCAPED, (char) =>
    Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}

/** A name of a member as a type writes it. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== "__proto__" && name !== "constructor" ? name : stringLiteral(name);
}

/**
 * A comment of documentation with text of a server. No text ends it early, and none is a tag or a directive: `@ts-ignore` of a
 * server would hide errors of its users. Nothing is said where there is no text.
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
