const SMALLEST = 1024;
/** A single block up to this size is kept when the buffer is emptied; anything larger is given back. */
const KEPT = 64 * 1024;
/** Large enough that a full frame is some twenty blocks, small enough that the last one wastes little. */
const LARGEST = 1024 * 1024;

/**
 * An append-only run of bytes, in a list of blocks that are joined once, when they are read.
 *
 * Bytes are copied in, so each chunk is free at once: a list of one-byte chunks would cost some 200 bytes of bookkeeping
 * for every byte held. Full blocks are never copied to grow, so a message nine times as long touches nine times the
 * memory; one doubling buffer touches up to fifteen times as much.
 */
export class ByteBuffer {
  /** The blocks before `#block`, each filled to its end. */
  #full: Uint8Array[] = [];
  #block = new Uint8Array(0);
  /** Bytes used in `#block`. */
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** All bytes in one array; only the first `length` count, and only until the next call. */
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
      // Most messages end here, in one small block that needs no joining.
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
