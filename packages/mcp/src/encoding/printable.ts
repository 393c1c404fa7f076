/**
 * Control characters (C0, DEL, C1) except line feed and tab, characters that reorder or break lines, and lone
 * surrogates.
 */
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Returns a text that is safe for a terminal or a log. Characters that could move the cursor, change the title, or
 * reorder or forge output are escaped as in JSON (`\u001b`). Line feeds and tabs stay.
 *
 * @example
 * ```ts
 * import { printable } from "@parley/mcp/protocol";
 *
 * printable("done\u001b[2J"); // "done\\u001b[2J"
 * ```
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Returns text of a peer for use within a sentence: like `printable`, and on one line.
 *
 * @example
 * ```ts
 * import { printableLine } from "@parley/mcp/protocol";
 *
 * function warn(name: string) {
 *   console.warn(`the server has no tool ${printableLine(name)}`);
 * }
 * ```
 */
export function printableLine(text: string): string {
  return printable(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/**
 * Returns a message for the operator: like `printable`, with every further line indented, so that none looks like a
 * separate message.
 */
export function printableMessage(text: string): string {
  return printable(text).replaceAll("\n", "\n  ");
}
