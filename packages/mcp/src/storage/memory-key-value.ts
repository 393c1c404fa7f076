import { type ByteBudget, ExpiringMap } from "./expiring-map.js";
import { type DeleteOptions, type KeyValue, type SetOptions, StorageError, type Versioned } from "./storage.js";

interface Slot extends Versioned {
  readonly key: string;
  /** Infinity for a key without `ttlMs`. */
  expiresAt: number;
}

/** A key-value store in the memory of this process. Synchronous. */
export class MemoryKeyValue implements KeyValue {
  readonly #now: () => number;
  readonly #maxKeys: number;
  readonly #budget: ByteBudget;
  readonly #slots: ExpiringMap<Slot>;
  /** One counter for all keys, so that no version ever repeats. */
  #version = 0;

  constructor(now: () => number, maxKeys: number, budget: ByteBudget) {
    this.#now = now;
    this.#maxKeys = maxKeys;
    this.#budget = budget;
    this.#slots = new ExpiringMap(
      (slot, at) => slot.expiresAt > at,
      (slot) => budget.release(sizeOf(slot)),
    );
  }

  get size(): number {
    return this.#slots.size;
  }

  get(key: string): Versioned | undefined {
    const slot = this.#slots.get(key, this.#now());
    return slot === undefined ? undefined : { value: slot.value, version: slot.version };
  }

  set(key: string, value: string, options: SetOptions = {}): number | undefined {
    const now = this.#now();
    const former = this.#slots.get(key, now);
    if (options.ifVersion !== undefined && options.ifVersion !== (former?.version ?? 0)) return undefined;
    if (former === undefined) this.#makeRoom(now);
    const expiresAt = options.ttlMs === undefined ? Number.POSITIVE_INFINITY : now + options.ttlMs;
    const slot: Slot = { key, value, version: this.#version + 1, expiresAt };
    const growth = sizeOf(slot) - (former === undefined ? 0 : sizeOf(former));
    this.#budget.ensure(growth, () => this.#slots.sweepIfDue(now));
    this.#budget.reserve(sizeOf(slot));
    this.#version++;
    this.#slots.put(key, slot);
    return slot.version;
  }

  delete(key: string, options: DeleteOptions = {}): boolean {
    const slot = this.#slots.get(key, this.#now());
    if (slot === undefined) return false;
    if (options.ifVersion !== undefined && options.ifVersion !== slot.version) return false;
    return this.#slots.delete(key);
  }

  touch(key: string, ttlMs: number): boolean {
    const now = this.#now();
    const slot = this.#slots.get(key, now);
    if (slot === undefined) return false;
    slot.expiresAt = now + ttlMs;
    return true;
  }

  sweep(): void {
    this.#slots.sweep(this.#now());
  }

  clear(): void {
    this.#slots.clear();
  }

  #makeRoom(now: number): void {
    if (this.#slots.hasRoom(this.#maxKeys, now)) return;
    throw new StorageError(
      "maxKeys",
      this.#maxKeys,
      "Raise limits.maxKeys of memoryStorage, or let keys expire sooner.",
    );
  }
}

function sizeOf(slot: Slot): number {
  return slot.key.length + slot.value.length;
}
