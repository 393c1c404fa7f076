import type { Platform, Timer } from "./platform.js";

/** Milliseconds by which a timer may fire too early, because runtimes count timers in whole milliseconds. */
const EARLY_MS = 1;

/**
 * Items that become due a fixed time after their last touch, with one timer for all. All items have the same delay, so
 * insertion order is due order: a touch is two map operations and needs no timer.
 */
export class DueList<T> {
  readonly #platform: Platform;
  readonly #delayMs: number;
  readonly #due: (item: T) => void;
  readonly #items = new Map<T, number>();
  #timer: Timer | undefined;
  #firesAt = 0;

  constructor(platform: Platform, delayMs: number, due: (item: T) => void) {
    this.#platform = platform;
    this.#delayMs = delayMs;
    this.#due = due;
  }

  /** Starts or restarts the delay of an item. */
  touch(item: T): void {
    // A key moves to the end of the order only if it was removed first.
    this.#items.delete(item);
    const now = this.#platform.monotonic();
    this.#items.set(item, now + this.#delayMs);
    // Some runtimes drop the timers of a request when the request ends. A timer that is long overdue will never fire,
    // so a new one is started.
    if (this.#timer === undefined || now > this.#firesAt + this.#delayMs) this.#arm(now, this.#delayMs);
  }

  /** Removes an item. */
  drop(item: T): void {
    this.#items.delete(item);
  }

  /** Stops the timer and removes all items. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#items.clear();
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.#platform.monotonic();
    const due: T[] = [];
    let next: number | undefined;
    for (const [item, at] of this.#items) {
      if (at > now + EARLY_MS) {
        next = at;
        break;
      }
      due.push(item);
    }
    for (const item of due) this.#items.delete(item);
    // The timer is armed before the callbacks, so that touches inside them do not start a second timer. Items may be
    // late by a sixteenth of the delay, so that ten thousand items do not wake the process ten thousand times.
    if (next !== undefined) this.#arm(now, Math.max(next - now, this.#delayMs / 16));
    for (const item of due) {
      try {
        this.#due(item);
      } catch (error) {
        // The failure of one item must not affect the others.
        this.#platform.warn(`a timer callback failed: ${String(error)}`);
      }
    }
  }

  #arm(now: number, ms: number): void {
    this.#timer?.cancel();
    this.#firesAt = now + ms;
    this.#timer = this.#platform.timer(ms, () => this.#fire());
  }
}
