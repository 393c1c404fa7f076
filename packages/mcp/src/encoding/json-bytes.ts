/** Returns the length of a text in UTF-8 bytes. */
export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/**
 * Returns the longest prefix of a text that takes at most `budget` bytes inside a JSON string, cut between characters.
 */
export function cutToJsonBytes(text: string, budget: number): string {
  let left = budget;
  let index = 0;
  while (index < text.length) {
    const code = text.codePointAt(index) ?? 0;
    left -= jsonBytes(code);
    if (left < 0) break;
    index += code > 0xffff ? 2 : 1;
  }
  return text.slice(0, index);
}

/** Characters with an escape of two bytes. Other control characters and lone surrogates take six. */
const SHORT_ESCAPES = [0x22, 0x5c, 0x08, 0x09, 0x0a, 0x0c, 0x0d];

/** Returns the number of bytes that one character takes in a JSON string. */
function jsonBytes(code: number): number {
  if (SHORT_ESCAPES.includes(code)) return 2;
  if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff)) return 6;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code > 0xffff ? 4 : 3;
}
