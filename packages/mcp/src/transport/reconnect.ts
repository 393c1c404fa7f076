import type { Platform } from "../platform/platform.js";

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
const RETRY_MIN_MS = 500;
const WINDOW_MS = 60_000;
const PER_WINDOW = 8;
/** A connection that lasted this long counts as working, even without an event. */
const STEADY_MS = 30_000;

/** The server's `retry` value, but at least 500 ms. */
export function clampRetry(ms: number): number {
  return Math.max(ms, RETRY_MIN_MS);
}

/**
 * Decides when a stream may be reopened: exponential back-off with full jitter up to 1 s, 2 s, … 30 s, or the server's
 * `retry`; never sooner than 500 ms, at most 8 attempts per minute. Only an event with data, or a connection of 30 s,
 * resets the count.
 */
export class ReconnectPacer {
  readonly #platform: Platform;
  readonly #maxAttempts: number;
  /** When each attempt of the last minute began. */
  #starts: number[] = [];
  #failures = 0;
  #openedAt: number | undefined;
  #retryMs: number | undefined;

  /** `maxAttempts` limits consecutive attempts without success. */
  constructor(platform: Platform, maxAttempts: number) {
    this.#platform = platform;
    this.#maxAttempts = maxAttempts;
  }

  /** A connection attempt begins now. */
  begun(): void {
    this.#starts.push(this.#platform.monotonic());
    if (this.#starts.length > PER_WINDOW) this.#starts.shift();
  }

  /** The connection is open. */
  opened(): void {
    this.#openedAt = this.#platform.monotonic();
  }

  /** An event with data arrived. */
  progressed(): void {
    this.#failures = 0;
    this.#starts.length = 0;
  }

  /** The server set the delay before the next attempt. */
  retry(ms: number): void {
    this.#retryMs = clampRetry(ms);
  }

  /**
   * The connection ended or failed. Returns the delay before the next attempt, or undefined if there should be none. After
   * a `clean` end the delay is the server's `retry`; after a failure, `retry` is its minimum.
   */
  ended(clean: boolean): number | undefined {
    const now = this.#platform.monotonic();
    if (this.#openedAt !== undefined && now - this.#openedAt >= STEADY_MS) this.progressed();
    this.#openedAt = undefined;
    if (this.#failures >= this.#maxAttempts) return undefined;
    const wait = clean && this.#retryMs !== undefined ? this.#retryMs : Math.max(this.#retryMs ?? 0, this.#backOff());
    this.#failures++;
    const oldest = this.#starts.length < PER_WINDOW ? undefined : this.#starts[0];
    return oldest === undefined ? wait : Math.max(wait, oldest + WINDOW_MS - now);
  }

  #backOff(): number {
    const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(this.#failures, 10));
    return Math.round(RETRY_MIN_MS + (ceiling - RETRY_MIN_MS) * this.#random());
  }

  #random(): number {
    const [a = 0, b = 0] = this.#platform.randomBytes(2);
    return (a * 256 + b) / 65_535;
  }
}
