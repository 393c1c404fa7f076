import { onAbort } from "../../platform/on-abort.js";
import type { Platform } from "../../platform/platform.js";

/** A request that waits for a token. */
export interface TokenWaiter {
  /** Whether it was cancelled. */
  readonly gone: boolean;
  /** Stops the deadlines of the request while a user acts; the returned function lets them count again. */
  hold(): () => void;
}

/** The longest time that one user may take without any deadline counting: that of the longest device code. */
const MAX_HOLD_MS = 3_600_000;
/** How long a request that spends a code or a refresh token may outlive the last waiter; its answer would be lost with it. */
const SPENDING_MS = 2_000;

/** One attempt to get a token: shared by all requests that wait for it, and given up with the last of them. */
export class Renewal {
  /** Settles with the work; rejects with the reason of the last waiter when it was given up. */
  readonly done: Promise<void>;
  readonly #platform: Platform;
  /** The waiters, each with what ends its hold. */
  readonly #waiters = new Map<TokenWaiter, (() => void) | undefined>();
  readonly #givenUp = new AbortController();
  readonly #spent = new AbortController();
  #asking = 0;

  constructor(platform: Platform, work: (renewal: Renewal) => Promise<void>) {
    this.#platform = platform;
    this.done = work(this);
    // Without a waiter the failure must not count as an unhandled rejection.
    this.done.catch(() => {});
  }

  /** Aborted when no request waits any more: nothing new is begun. */
  get signal(): AbortSignal {
    return this.#givenUp.signal;
  }

  /** Aborted a little later, for requests that spend a code or a refresh token. */
  get spending(): AbortSignal {
    return this.#spent.signal;
  }

  /** Waits for the token. A waiter that does not want it any more calls `leave`. */
  join(waiter: TokenWaiter): Promise<void> {
    this.#waiters.set(waiter, this.#asking > 0 ? waiter.hold() : undefined);
    return this.done.finally(() => this.#drop(waiter));
  }

  leave(waiter: TokenWaiter, reason: Error): void {
    if (!this.#drop(waiter) || this.#waiters.size > 0) return;
    this.#givenUp.abort(reason);
    const timer = this.#platform.timer(SPENDING_MS, () => this.#spent.abort(reason));
    this.done.finally(() => timer.cancel()).catch(() => {});
  }

  /** Runs `work` while a user acts: the deadlines of the requests that wait do not count. Rejects when the last of them leaves. */
  async whileAsking<T>(work: () => Promise<T>): Promise<T> {
    this.#asking++;
    for (const [waiter, release] of this.#waiters) this.#waiters.set(waiter, release ?? waiter.hold());
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
