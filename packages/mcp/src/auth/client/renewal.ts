import { onAbort } from "../../platform/on-abort.js";
import type { Platform } from "../../platform/platform.js";

/** A request that waits for a token. */
export interface TokenWaiter {
  /** True if the request was cancelled. */
  readonly isCancelled: boolean;
  /** Pauses the deadlines of the request while a user acts. Call the returned function to resume them. */
  holdDeadlines(): () => void;
}

/** Longest pause of deadlines for one user action, equal to the longest lifetime of a device code. */
const MAX_HOLD_MS = 3_600_000;
/**
 * Time for which a request that spends a code or a refresh token may continue after the last waiter has left. If such a
 * request were cancelled, the code or token could be spent without a new token in return.
 */
const GRACE_MS = 2_000;

/**
 * One attempt to get a token, shared by all requests that wait for it. The attempt is aborted when the last waiting
 * request leaves.
 */
export class Renewal {
  /**
   * Settles like `work`. After an abort, `work` normally rejects with the reason that the last waiter passed to
   * `leave`.
   */
  readonly done: Promise<void>;
  readonly #platform: Platform;
  /** The waiting requests, each with the function that resumes its deadlines. */
  readonly #waiters = new Map<TokenWaiter, (() => void) | undefined>();
  readonly #givenUp = new AbortController();
  readonly #spent = new AbortController();
  #asking = 0;

  constructor(platform: Platform, work: (renewal: Renewal) => Promise<void>) {
    this.#platform = platform;
    this.done = work(this);
    // Without a waiter, a failure would be reported as an unhandled rejection.
    this.done.catch(() => {});
  }

  /** Aborted when no request waits any more. Start nothing new after that. */
  get signal(): AbortSignal {
    return this.#givenUp.signal;
  }

  /** Aborted a little later than `signal`, for requests that spend a code or a refresh token. */
  get graceSignal(): AbortSignal {
    return this.#spent.signal;
  }

  /** Waits for the token. If the request is cancelled, the caller must call `leave`. */
  join(waiter: TokenWaiter): Promise<void> {
    this.#waiters.set(waiter, this.#asking > 0 ? waiter.holdDeadlines() : undefined);
    return this.done.finally(() => this.#drop(waiter));
  }

  leave(waiter: TokenWaiter, reason: Error): void {
    if (!this.#drop(waiter) || this.#waiters.size > 0) return;
    this.#givenUp.abort(reason);
    const timer = this.#platform.timer(GRACE_MS, () => this.#spent.abort(reason));
    this.done.finally(() => timer.cancel()).catch(() => {});
  }

  /**
   * Runs `work` while a user acts, with the deadlines of the waiting requests paused. Rejects when the last waiting
   * request leaves.
   */
  async whileAsking<T>(work: () => Promise<T>): Promise<T> {
    this.#asking++;
    for (const [waiter, release] of this.#waiters) this.#waiters.set(waiter, release ?? waiter.holdDeadlines());
    let asks = true;
    const end = () => {
      if (!asks) return;
      asks = false;
      if (--this.#asking === 0) this.#releaseAll();
    };
    const timer = this.#platform.timer(MAX_HOLD_MS, end);
    try {
      return await this.#unlessGivenUp(work);
    } finally {
      timer.cancel();
      end();
    }
  }

  #unlessGivenUp<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const remove = onAbort(signal, () => reject(signal.reason));
      if (!signal.aborted) work().then(resolve, reject).finally(remove);
    });
  }

  #releaseAll(): void {
    for (const [waiter, release] of this.#waiters) {
      release?.();
      this.#waiters.set(waiter, undefined);
    }
  }

  #drop(waiter: TokenWaiter): boolean {
    this.#waiters.get(waiter)?.();
    return this.#waiters.delete(waiter);
  }
}
