import type { DecodeUtf8 } from "./frame-decoder.js";

const MIN_BLOCK_BYTES = 1024;
/** A single block up to this size is reused after `clear`. Larger blocks are freed. */
const MAX_REUSED_BYTES = 64 * 1024;
/**
 * Maximum size of a block. A frame of 16 MiB then takes about twenty blocks, and the last block wastes at most 1 MiB.
 */
const MAX_BLOCK_BYTES = 1024 * 1024;

/**
 * An append-only sequence of bytes, in blocks that are joined once, when they are read.
 *
 * Bytes are copied, so that chunks can be freed at once: a list of one-byte chunks would need about 200 bytes of
 * bookkeeping for each byte. Blocks above 64 KiB are not copied when the buffer grows, so the memory traffic is
 * proportional to the length of the message. A single buffer that doubles would copy its content at each step.
 */
export class ByteBuffer {
  /** The blocks before `#block`, all full. */
  #full: Uint8Array[] = [];
  #block = new Uint8Array(0);
  /** Bytes used in `#block`. */
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** All bytes in one array. Only the first `length` bytes are valid, and only until the next `append` or `clear`. */
  get bytes(): Uint8Array {
    if (this.#full.length > 0) this.#join();
    return this.#block;
  }

  append(chunk: Uint8Array, start: number, end: number): void {
    let from = start;
    while (from < end) {
      if (this.#used === this.#block.length) this.#grow(end - from);
      const to = Math.min(end, from + this.#block.length - this.#used);
      this.#block.set(from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to), this.#used);
      this.#used += to - from;
      this.#length += to - from;
      from = to;
    }
  }

  clear(): void {
    if (this.#full.length > 0 || this.#block.length > MAX_REUSED_BYTES) {
      this.#full = [];
      this.#block = new Uint8Array(0);
    }
    this.#used = 0;
    this.#length = 0;
  }

  #grow(needed: number): void {
    const size = Math.min(MAX_BLOCK_BYTES, Math.max(MIN_BLOCK_BYTES, needed, this.#block.length * 2));
    const block = new Uint8Array(size);
    if (this.#full.length === 0 && size <= MAX_REUSED_BYTES) {
      // Most messages fit into one small block, which needs no joining.
      block.set(this.#block);
    } else {
      if (this.#used > 0) this.#full.push(this.#block);
      this.#used = 0;
    }
    this.#block = block;
  }

  #join(): void {
    const joined = new Uint8Array(this.#length);
    let at = 0;
    for (const block of this.#full) {
      joined.set(block, at);
      at += block.length;
    }
    joined.set(this.#block.subarray(0, this.#used), at);
    this.#full = [];
    this.#block = joined;
    this.#used = this.#length;
  }
}

/** Returns a strict decoder that uses the web-standard `TextDecoder`. */
export function textDecoderUtf8(): DecodeUtf8 {
  // `ignoreBOM` keeps a byte order mark in the text. The line decoder removes the mark at the start of a stream, the
  // only place where one is allowed.
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
 * True if `bytes[start, end)` is valid UTF-8 (RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF).
 *
 * Used for input that is probably invalid: a fatal `TextDecoder` creates an exception for every failure, so one megabyte
 * of two-byte garbage lines would take seconds.
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
