/** Bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The longest beginning of a text that takes at most `budget` bytes inside a JSON string, cut between characters. */
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

/** What one character takes in a JSON string: escapes of six bytes for control characters and lone surrogates. */
function jsonBytes(code: number): number {
  if (code === 0x22 || code === 0x5c) return 2;
  if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff)) return 6;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code > 0xffff ? 4 : 3;
}
