import { StorageError } from "./storage.js";

/**
 * Number of other entries that each `get` checks. Every insert is preceded by a `get`, so two checks per `get` remove
 * expired entries faster than new entries are added.
 */
const STEP = 2;
/**
 * Minimum time between full sweeps, in milliseconds. A sweep is linear in the size of the map, so a full map must not
 * sweep on every insert.
 */
const FULL_SWEEP_EVERY_MS = 1_000;

/**
 * A map whose entries expire without a timer: each `get` checks its own key and `STEP` other entries.
 *
 * `isLive` returns true if an entry is still valid. It may remove expired parts of the entry. `onRemove` is called for
 * every removed entry. Methods take the time as an argument, so that an entry that is live at the start of an operation
 * stays live until its end.
 */
export class ExpiringMap<V> {
  readonly #entries = new Map<string, V>();
  readonly #isLive: (value: V, now: number) => boolean;
  readonly #onRemove: (value: V, key: string) => void;
  /** Position of the incremental sweep. A map iterator stays valid through inserts and deletes. */
  #cursor: Iterator<[string, V]> | undefined;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(isLive: (value: V, now: number) => boolean, onRemove: (value: V, key: string) => void) {
    this.#isLive = isLive;
    this.#onRemove = onRemove;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the entry, if it is live at `now`. */
  get(key: string, now: number): V | undefined {
    this.#step(now);
    const value = this.#entries.get(key);
    if (value === undefined || this.#isLive(value, now)) return value;
    this.#remove(key, value);
    return undefined;
  }

  /** Adds an entry, or replaces the entry of this key. */
  put(key: string, value: V): void {
    const former = this.#entries.get(key);
    if (former !== undefined && former !== value) this.#onRemove(former, key);
    this.#entries.set(key, value);
  }

  delete(key: string): boolean {
    const value = this.#entries.get(key);
    if (value === undefined) return false;
    this.#remove(key, value);
    return true;
  }

  /** True if one more entry fits. If the map is full, first removes expired entries. */
  hasRoom(limit: number, now: number): boolean {
    if (this.size >= limit) this.sweepIfDue(now);
    return this.size < limit;
  }

  /** Removes all expired entries, at most once per `FULL_SWEEP_EVERY_MS`. */
  sweepIfDue(now: number): void {
    if (now - this.#sweptAt >= FULL_SWEEP_EVERY_MS) this.sweep(now);
  }

  /** Removes all expired entries. */
  sweep(now: number): void {
    this.#sweptAt = now;
    for (const [key, value] of this.#entries) {
      if (!this.#isLive(value, now)) this.#remove(key, value);
    }
  }

  clear(): void {
    for (const [key, value] of this.#entries) this.#remove(key, value);
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
      if (!this.#isLive(value, now)) this.#remove(key, value);
    }
  }

  /** Removes an entry and reports it to `onRemove`. */
  #remove(key: string, value: V): void {
    this.#entries.delete(key);
    this.#onRemove(value, key);
  }
}

/**
 * One size limit that several stores share.
 *
 * Counts UTF-16 units, because reading `length` costs nothing. Each unit takes one or two bytes of memory.
 */
export class ByteBudget {
  readonly #maximum: number;
  #used = 0;

  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  get used(): number {
    return this.#used;
  }

  /**
   * Throws if `bytes` more would not fit even after `makeRoom`. Reserves nothing, so that a write that fails later has
   * no effect.
   */
  ensure(bytes: number, makeRoom: () => void): void {
    if (this.#used + bytes > this.#maximum) makeRoom();
    if (this.#used + bytes > this.#maximum) {
      throw new StorageError(
        "maxBytes",
        this.#maximum,
        "Raise limits.maxBytes of memoryStorage, or store less or for a shorter time.",
      );
    }
  }

  /** Adds to the used size. */
  reserve(bytes: number): void {
    this.#used += bytes;
  }

  /** Subtracts from the used size. */
  release(bytes: number): void {
    this.#used -= bytes;
  }
}
