import type { Platform, Timer } from "../../platform/platform.js";
import type { McpError } from "../../protocol/error.js";

/** Ends a call that runs too long. The time that the client takes to answer questions does not count. */
export class CallDeadline {
  readonly #platform: Platform;
  readonly #expired: () => McpError;
  readonly #keepAlive: AbortSignal | undefined;
  #left: number;
  #since = 0;
  #questions = 0;
  #timer: Timer | undefined;
  #failure: McpError | undefined;
  #reject: ((failure: McpError) => void) | undefined;
  #ended = false;

  /**
   * Starts the timer. `expired` is called at most once and returns the error that the call fails with. If `keepAlive`
   * is given, the timer keeps the process alive until that signal is aborted: the caller may run in this process, and
   * then nothing else keeps the process alive.
   */
  constructor(platform: Platform, ms: number, expired: () => McpError, keepAlive?: AbortSignal) {
    this.#platform = platform;
    this.#left = ms;
    this.#expired = expired;
    this.#keepAlive = keepAlive;
    this.#start();
    keepAlive?.addEventListener("abort", () => this.#stopKeepingAlive(), { once: true });
  }

  /** Settles like `value`, or rejects if the deadline passes first. */
  race<T>(value: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#failure !== undefined) reject(this.#failure);
      value.then(resolve, reject);
    });
  }

  /** Milliseconds left before the deadline. */
  get left(): number {
    return this.#timer === undefined
      ? this.#left
      : Math.max(0, this.#left - (this.#platform.monotonic() - this.#since));
  }

  /** Stops the timer while a question is open. Calls nest, because several questions may be open at once. */
  pause(): void {
    this.#questions++;
    this.#cancel();
  }

  /** Undoes one `pause`. The timer starts again when every `pause` is undone. */
  resume(): void {
    this.#questions--;
    if (this.#questions === 0 && !this.#ended) this.#start();
  }

  /** Stops the timer for good, because the call has an outcome. */
  end(): void {
    this.#ended = true;
    this.#cancel();
  }

  #cancel(): void {
    this.#left = this.left;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Restarts the timer so that it no longer keeps the process alive. */
  #stopKeepingAlive(): void {
    if (this.#timer === undefined) return;
    this.#cancel();
    this.#start();
  }

  #start(): void {
    this.#since = this.#platform.monotonic();
    const expire = () => {
      this.end();
      this.#failure = this.#expired();
      this.#reject?.(this.#failure);
    };
    this.#timer = this.#platform.timer(this.#left, expire, this.#keepAlive?.aborted === false);
  }
}
