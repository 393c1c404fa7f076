const SMALLEST = 1024;
/** A buffer above this size is given back once it is emptied, so that one large message does not pin its memory. */
const KEPT = 64 * 1024;

/**
 * An append-only run of bytes that grows by doubling.
 *
 * Copying keeps the total work linear however small the chunks are, and frees each chunk at once: a list of one-byte
 * chunks would cost some 200 bytes of bookkeeping for every byte held.
 */
export class ByteBuffer {
  #bytes = new Uint8Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The storage behind the buffer; only the first `length` bytes count, and only until the next call. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  append(chunk: Uint8Array, start: number, end: number): void {
    const length = this.#length + end - start;
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(SMALLEST, length, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end), this.#length);
    this.#length = length;
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > KEPT) this.#bytes = new Uint8Array(0);
  }
}
