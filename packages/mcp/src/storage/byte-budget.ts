import { StorageError } from "./storage.js";

/**
 * One limit on the bytes of several stores.
 *
 * Counts UTF-16 units, which costs nothing to know: the true size is between one and two bytes for each.
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

  /** Throws where `bytes` more would not fit even after `makeRoom`. Takes nothing, so that a refusal leaves no trace. */
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
