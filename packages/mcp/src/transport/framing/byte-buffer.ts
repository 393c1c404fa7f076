const SMALLEST = 1024;
/** A single block up to this size is reused after the buffer is emptied; larger ones are freed. */
const KEPT = 64 * 1024;
/** The largest block: a frame of 16 MiB is then about twenty blocks, and the last one wastes at most 1 MiB. */
const LARGEST = 1024 * 1024;

/**
 * An append-only sequence of bytes, in a list of blocks that are joined once, when they are read.
 *
 * Bytes are copied in, so chunks can be freed at once: a list of one-byte chunks would need about 200 bytes of
 * bookkeeping for each byte. Full blocks are never copied to grow, so a message nine times as long touches nine times
 * the memory; a single doubling buffer would touch up to fifteen times as much.
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

  /** All bytes in one array; only the first `length` are valid, and only until the next call. */
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
    if (this.#full.length > 0 || this.#block.length > KEPT) {
      this.#full = [];
      this.#block = new Uint8Array(0);
    }
    this.#used = 0;
    this.#length = 0;
  }

  #grow(needed: number): void {
    const size = Math.min(LARGEST, Math.max(SMALLEST, needed, this.#block.length * 2));
    const block = new Uint8Array(size);
    if (this.#full.length === 0 && size <= KEPT) {
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
