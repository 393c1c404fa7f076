import { StorageError } from "./storage.js";

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
