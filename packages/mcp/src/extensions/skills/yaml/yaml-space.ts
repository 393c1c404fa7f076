import { YamlError } from "./yaml-error.js";

// White space is what YAML takes for it, spaces and tabs; `\s` and `trim` of JavaScript know many more characters.

/** Without the spaces and tabs at the beginning. */
export function trimSpacesStart(text: string): string {
  let start = 0;
  while (start < text.length && " \t".includes(text.charAt(start))) start++;
  return text.slice(start);
}

/** Without the spaces and tabs at the end; an expression for that takes time quadratic in the spaces elsewhere. */
export function trimSpacesEnd(text: string): string {
  let end = text.length;
  while (end > 0 && " \t".includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Without the spaces and tabs at both ends. */
export function trimSpaces(text: string): string {
  return trimSpacesEnd(trimSpacesStart(text));
}

// All that YAML does not allow unescaped, and what only some of its readers take for a line break or skip.
const REFUSED =
  /[^\t\n\r\u0020-\u007e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]|\r(?!\n)/u;

/** Throws for characters with which one reader of YAML could see other lines, and so other fields, than the next. */
export function checkCharacters(text: string): void {
  const found = REFUSED.exec(text);
  if (found === null) return;
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const line = text.slice(0, found.index).split("\n").length;
  throw new YamlError(line, `it holds the character U+${code}; write it as an escape in double quotes`);
}
