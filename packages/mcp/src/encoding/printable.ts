/** Control characters (C0, DEL, C1) but line feed and tab, characters that turn or break lines, and halves of pairs. */
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * The text for a terminal or a log: what could move the cursor, change the title, or reorder or forge what is printed is
 * spelled as in JSON (`\u001b`). Line feeds and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Text of a peer for the middle of a sentence: as `printable`, and on one line. */
export function printableLine(text: string): string {
  return printable(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** A message for the operator: as `printable`, with every further line indented, so that none looks like a message of its own. */
export function printableMessage(text: string): string {
  return printable(text).replaceAll("\n", "\n  ");
}
