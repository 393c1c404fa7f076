import { KeyCounts } from "./key-counts.js";
import { onAbort } from "./on-abort.js";

interface Waiter {
  readonly key: string | undefined;
  /** Whether it counts as waiting. */
  readonly counts: boolean;
  start(): void;
}

/**
 * Lets `max` pieces of work run at once, at most `share` of them for one key, and the others wait in order. The owner decides
 * who may wait: it reads `waiting` and `waitingOf` before it calls `wait`.
 *
 * Each `tryEnter` that returned true and each `wait` that resolved is followed by one `leave` with the same key.
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

  get running(): number {
    return this.#running;
  }

  /** How many wait, without those that may wait in any case. */
  get waiting(): number {
    return this.#waiting;
  }

  /** How many of one key wait, without those that may wait in any case. */
  waitingOf(key: string): number {
    return this.#waitingOf.get(key);
  }

  /** Takes a place and returns true, if there is one now. */
  tryEnter(key?: string): boolean {
    if (this.#running >= this.#max) return false;
    if (key !== undefined && !this.#runningOf.take(key, this.#share)) return false;
    this.#running++;
    return true;
  }

  /**
   * Resolves when its turn comes, with a place taken; rejects with the signal's reason, without a place, when `signal` aborts.
   * With `inAnyCase` it is left out of `waiting` and `waitingOf`.
   */
  wait(signal?: AbortSignal, key?: string, inAnyCase = false): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        key,
        counts: !inAnyCase,
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

  /** Gives a place back; the first waiter that may have it starts. */
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
