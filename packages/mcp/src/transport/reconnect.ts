import type { Platform } from "../platform/platform.js";

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
const MIN_DELAY_MS = 500;
const WINDOW_MS = 60_000;
const MAX_PER_WINDOW = 8;
/** Milliseconds after which an open connection counts as working, even without an event. */
const STEADY_MS = 30_000;

/** Returns the server's `retry` value, but at least 500 ms. */
export function clampRetry(ms: number): number {
  return Math.max(ms, MIN_DELAY_MS);
}

/**
 * Decides when a stream may be reopened. After a failure, the delay is an exponential back-off with jitter, whose upper
 * bound is 1 s, 2 s, … 30 s. The server's `retry` raises the delay after a failure and replaces it after a clean end.
 * The delay is at least 500 ms. Without progress, there are at most 8 attempts per minute. Only `progressed`, or a
 * connection of 30 s, resets the count of failures.
 */
export class ReconnectPacer {
  readonly #platform: Platform;
  readonly #maxAttempts: number;
  /** Start times of the latest attempts, at most as many as one minute allows. */
  #starts: number[] = [];
  #failures = 0;
  #openedAt: number | undefined;
  #retryMs: number | undefined;

  /** `maxAttempts` is the maximum number of consecutive attempts without success. */
  constructor(platform: Platform, maxAttempts: number) {
    this.#platform = platform;
    this.#maxAttempts = maxAttempts;
  }

  /** Records the start of a connection attempt. */
  begun(): void {
    this.#starts.push(this.#platform.monotonic());
    if (this.#starts.length > MAX_PER_WINDOW) this.#starts.shift();
  }

  /** Records that the connection is open. */
  opened(): void {
    this.#openedAt = this.#platform.monotonic();
  }

  /** Records progress, such as an event with data. Resets the count of failures and the limit per minute. */
  progressed(): void {
    this.#failures = 0;
    this.#starts.length = 0;
  }

  /** Sets the delay that the server requested. */
  retry(ms: number): void {
    this.#retryMs = clampRetry(ms);
  }

  /**
   * Records the end or failure of a connection. Returns the delay before the next attempt, or undefined if there must
   * be no further attempt. After a `clean` end the delay is the server's `retry`, if it sent one. After a failure the
   * delay is at least `retry`.
   */
  ended(clean: boolean): number | undefined {
    const now = this.#platform.monotonic();
    if (this.#openedAt !== undefined && now - this.#openedAt >= STEADY_MS) this.progressed();
    this.#openedAt = undefined;
    if (this.#failures >= this.#maxAttempts) return undefined;
    const wait = clean && this.#retryMs !== undefined ? this.#retryMs : Math.max(this.#retryMs ?? 0, this.#backOff());
    this.#failures++;
    const oldest = this.#starts.length < MAX_PER_WINDOW ? undefined : this.#starts[0];
    return oldest === undefined ? wait : Math.max(wait, oldest + WINDOW_MS - now);
  }

  #backOff(): number {
    const ceiling = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(this.#failures, 10));
    return Math.round(MIN_DELAY_MS + (ceiling - MIN_DELAY_MS) * this.#random());
  }

  #random(): number {
    const [a = 0, b = 0] = this.#platform.randomBytes(2);
    return (a * 256 + b) / 65_535;
  }
}
