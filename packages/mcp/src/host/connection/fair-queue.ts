/** Waiting items by key: in order within a key, and keys take turns. Every operation but `popLongest` is constant in time. */
export class FairQueue<T> {
  /** The keys in the order of their turns; none is empty. */
  readonly #byKey = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  waitingOf(key: string): number {
    return this.#byKey.get(key)?.size ?? 0;
  }

  push(key: string, item: T): void {
    const items = this.#byKey.get(key);
    if (items === undefined) this.#byKey.set(key, new Set([item]));
    else items.add(item);
    this.#size++;
  }

  /** Takes the first item of the key whose turn it is; the key goes to the end. */
  shift(): T | undefined {
    for (const [key, items] of this.#byKey) {
      for (const item of items) {
        this.delete(key, item);
        if (items.size > 0) {
          this.#byKey.delete(key);
          this.#byKey.set(key, items);
        }
        return item;
      }
    }
    return undefined;
  }

  delete(key: string, item: T): boolean {
    const items = this.#byKey.get(key);
    if (items === undefined || !items.delete(item)) return false;
    if (items.size === 0) this.#byKey.delete(key);
    this.#size--;
    return true;
  }

  /** Takes the newest item of the key with the most, if it has more than `moreThan`. */
  popLongest(moreThan: number): T | undefined {
    let longest: [string, Set<T>] | undefined;
    for (const entry of this.#byKey) if (entry[1].size > (longest?.[1].size ?? moreThan)) longest = entry;
    if (longest === undefined) return undefined;
    const [key, items] = longest;
    const newest = [...items].at(-1);
    if (newest !== undefined) this.delete(key, newest);
    return newest;
  }
}
