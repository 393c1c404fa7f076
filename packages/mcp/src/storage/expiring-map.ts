import { StorageError } from "./storage.js";

/** Further entries that each access checks: two, so that removal is faster than insertion. */
const STEP = 2;
/** A full sweep takes time linear in the size of the map; a full map must not sweep on every insert. */
const FULL_SWEEP_EVERY_MS = 1_000;

/**
 * A map whose entries expire without a timer: each access checks its own key and the next few others.
 *
 * `isLive` decides whether an entry is still valid (and may trim it); `removed` is called for every removed entry. The
 * time is an argument, so that an entry which is live at the start of an operation stays live until its end.
 */
export class ExpiringMap<V> {
  readonly #entries = new Map<string, V>();
  readonly #isLive: (value: V, now: number) => boolean;
  readonly #removed: (value: V, key: string) => void;
  /** Position of the incremental sweep. A map iterator stays valid through inserts and deletes. */
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

  /** Whether one more entry fits, if need be after a sweep. */
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

/**
 * One limit for the size of several stores.
 *
 * Counts UTF-16 units, because `length` is free to read; each takes one or two bytes of memory.
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

  /** Throws if `bytes` more would not fit even after `makeRoom`. Reserves nothing, so a failed write changes nothing. */
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

  take(bytes: number): void {
    this.#used += bytes;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}
