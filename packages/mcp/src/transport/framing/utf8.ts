import type { DecodeUtf8 } from "./frame-decoder.js";

/** Strict decoding with the web-standard `TextDecoder`. */
export function textDecoderUtf8(): DecodeUtf8 {
  // `ignoreBOM` means "keep it": only the start of a stream may have one, and the decoder of lines removes it there.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return (bytes, start, end) => {
    try {
      return decoder.decode(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
    } catch {
      return undefined;
    }
  };
}

/**
 * Whether `bytes[start, end)` is valid UTF-8 (RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF).
 *
 * For input that is probably invalid: a fatal `TextDecoder` creates an exception for every failure, so one megabyte of
 * two-byte garbage lines would take seconds.
 */
export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    const lead = bytes[at++] ?? 0;
    if (lead < 0x80) continue;
    const following = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (following === 0 || at + following > end) return false;
    // Only the range of the first continuation byte depends on the lead byte.
    const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    const first = bytes[at] ?? 0;
    if (first < low || first > high) return false;
    for (let rest = 1; rest < following; rest++) {
      if (((bytes[at + rest] ?? 0) & 0xc0) !== 0x80) return false;
    }
    at += following;
  }
  return true;
}
