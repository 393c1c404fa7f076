/**
 * Decides what a full map does with a new key. `"oldest"` evicts the entry that was written longest ago. `"unused"`
 * evicts the entry that was neither read nor written for longest. `"all"` evicts every entry. `"refuse"` does not store
 * the new entry.
 */
export type Eviction = "oldest" | "unused" | "all" | "refuse";

/** A map of at most `max` entries. Iteration begins with the entry that would be evicted next. */
export class BoundedMap<K, V> {
  readonly max: number;
  readonly #eviction: Eviction;
  readonly #entries = new Map<K, V>();

  constructor(max: number, eviction: Eviction = "oldest") {
    this.max = max;
    this.#eviction = eviction;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (this.#eviction === "unused" && value !== undefined) this.#moveToEnd(key, value);
    return value;
  }

  /** Stores the value and returns true. Returns false if the map is full and refuses new keys. */
  set(key: K, value: V): boolean {
    if (this.#entries.size >= this.max && !this.#entries.has(key) && !this.#makeRoom()) return false;
    this.#moveToEnd(key, value);
    return true;
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  keys(): IterableIterator<K> {
    return this.#entries.keys();
  }

  values(): IterableIterator<V> {
    return this.#entries.values();
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#entries.entries();
  }

  #moveToEnd(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
  }

  #makeRoom(): boolean {
    if (this.#eviction === "refuse") return false;
    for (const key of this.#entries.keys()) {
      this.#entries.delete(key);
      if (this.#eviction !== "all") break;
    }
    return true;
  }
}
