/** How much of a child's stderr is kept for error messages. */
const RING_BYTES = 64 * 1024;

/** The last part of a child's stderr. Everything is taken, so that the child never blocks on a full pipe. */
export class StderrRing {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  /** All that ever came, in bytes. */
  total = 0;

  push(chunk: Uint8Array): void {
    this.total += chunk.length;
    // A chunk may be a view on a much larger buffer; the copy keeps only what is asked for.
    this.#chunks.push(chunk.slice(-RING_BYTES));
    this.#bytes += Math.min(chunk.length, RING_BYTES);
    while (this.#bytes - (this.#chunks[0]?.length ?? 0) >= RING_BYTES) {
      this.#bytes -= this.#chunks.shift()?.length ?? 0;
    }
  }

  /** The last lines, oldest first, blank ones left out. */
  lines(count: number): string[] {
    const text = Buffer.concat(this.#chunks).toString("utf8");
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
    return lines.slice(-count);
  }
}
