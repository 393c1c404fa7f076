/** How many further entries each access looks at: enough that garbage never outgrows what is live for long. */
const STEP = 2;
/** A full sweep, tried when the map is full, costs time in proportion to its size: at most one in this time. */
const FULL_SWEEP_EVERY_MS = 1_000;

/**
 * A map whose entries expire without a timer: each access checks its own key and a few others in turn.
 *
 * `isLive` says whether an entry still counts (and may trim it); `removed` hears of every entry that leaves. The time
 * is an argument, so that one operation sees one time: what it found live cannot be swept before it is done.
 */
export class ExpiringMap<V> {
  readonly #entries = new Map<string, V>();
  readonly #isLive: (value: V, now: number) => boolean;
  readonly #removed: (value: V, key: string) => void;
  /** Where the rolling sweep stands. A map iterator stays valid through inserts and deletes. */
  #cursor: Iterator<[string, V]> | undefined;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(isLive: (value: V, now: number) => boolean, removed: (value: V, key: string) => void) {
    this.#isLive = isLive;
    this.#removed = removed;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The entry, if it is still live at `now`. */
  get(key: string, now: number): V | undefined {
    this.#step(now);
    const value = this.#entries.get(key);
    if (value === undefined || this.#isLive(value, now)) return value;
    this.#take(key, value);
    return undefined;
  }

  /** Adds an entry or replaces a live one. */
  put(key: string, value: V): void {
    const former = this.#entries.get(key);
    if (former !== undefined && former !== value) this.#removed(former, key);
    this.#entries.set(key, value);
  }

  delete(key: string): boolean {
    const value = this.#entries.get(key);
    if (value === undefined) return false;
    this.#take(key, value);
    return true;
  }

  /** Removes everything that has expired, unless that was done a moment ago. */
  sweepIfDue(now: number): void {
    if (now - this.#sweptAt >= FULL_SWEEP_EVERY_MS) this.sweep(now);
  }

  /** Removes everything that has expired. */
  sweep(now: number): void {
    this.#sweptAt = now;
    for (const [key, value] of this.#entries) {
      if (!this.#isLive(value, now)) this.#take(key, value);
    }
  }

  clear(): void {
    for (const [key, value] of this.#entries) this.#take(key, value);
  }

  #step(now: number): void {
    for (let count = 0; count < STEP; count++) {
      this.#cursor ??= this.#entries.entries();
      const next = this.#cursor.next();
      if (next.done === true) {
        this.#cursor = undefined;
        return;
      }
      const [key, value] = next.value;
      if (!this.#isLive(value, now)) this.#take(key, value);
    }
  }

  #take(key: string, value: V): void {
    this.#entries.delete(key);
    this.#removed(value, key);
  }
}
