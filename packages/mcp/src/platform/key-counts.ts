/** A count for each key. A key whose count is 0 takes no memory. */
export class KeyCounts<K = string> {
  readonly #counts = new Map<K, number>();

  /** The number of keys with a count. */
  get size(): number {
    return this.#counts.size;
  }

  get(key: K): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Adds `by` and returns the new count. A count never falls below 0. */
  change(key: K, by: number): number {
    const count = Math.max(0, this.get(key) + by);
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
    return count;
  }

  /** Adds 1 and returns true, unless the count has reached `max`. */
  tryAdd(key: K, max: number): boolean {
    if (this.get(key) >= max) return false;
    this.change(key, 1);
    return true;
  }

  delete(key: K): void {
    this.#counts.delete(key);
  }

  /** Iterates over the keys and their counts. */
  [Symbol.iterator](): IterableIterator<[K, number]> {
    return this.#counts.entries();
  }
}
