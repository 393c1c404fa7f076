import { KeyCounts } from "./key-counts.js";
import { onAbort } from "./on-abort.js";

interface Waiter {
  readonly key: string | undefined;
  /** True if the waiter is included in `waiting` and `waitingOf`. */
  readonly counts: boolean;
  start(): void;
}

/**
 * Allows `max` pieces of work at once, and at most `share` of them per key. Further work waits in order. The owner
 * limits the queue: it reads `waiting` and `waitingOf` before it calls `wait`.
 *
 * Each `tryEnter` that returned true and each `wait` that resolved must be followed by one `leave` with the same
 * key.
 */
export class Semaphore {
  readonly #max: number;
  readonly #share: number;
  readonly #waiters = new Set<Waiter>();
  readonly #runningOf = new KeyCounts();
  readonly #waitingOf = new KeyCounts();
  #running = 0;
  #waiting = 0;

  constructor(max: number, share = max) {
    this.#max = max;
    this.#share = share;
  }

  /** Number of acquired slots. */
  get running(): number {
    return this.#running;
  }

  /** Number of waiters, except uncounted ones. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Number of waiters of one key, except uncounted ones. */
  waitingOf(key: string): number {
    return this.#waitingOf.get(key);
  }

  /** Acquires a slot and returns true, if a slot is free and the share of the key is not used up. */
  tryEnter(key?: string): boolean {
    if (this.#running >= this.#max) return false;
    if (key !== undefined && !this.#runningOf.tryAdd(key, this.#share)) return false;
    this.#running++;
    return true;
  }

  /**
   * Resolves with a slot acquired. If `signal` aborts, rejects with its reason and without a slot. An `uncounted`
   * waiter is not included in `waiting` and `waitingOf`.
   */
  wait(signal?: AbortSignal, key?: string, uncounted = false): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        key,
        counts: !uncounted,
        start() {
          remove();
          resolve();
        },
      };
      const remove = onAbort(signal, () => {
        this.#remove(waiter);
        reject(signal?.reason);
      });
      this.#waiters.add(waiter);
      this.#count(waiter, 1);
    });
  }

  /** Releases a slot, and starts the first waiter that may use it. */
  leave(key?: string): void {
    this.#running--;
    if (key !== undefined) this.#runningOf.change(key, -1);
    for (const waiter of this.#waiters) {
      if (!this.tryEnter(waiter.key)) continue;
      this.#remove(waiter);
      return waiter.start();
    }
  }

  #remove(waiter: Waiter): void {
    if (this.#waiters.delete(waiter)) this.#count(waiter, -1);
  }

  #count(waiter: Waiter, by: 1 | -1): void {
    if (!waiter.counts) return;
    this.#waiting += by;
    if (waiter.key !== undefined) this.#waitingOf.change(waiter.key, by);
  }
}
